package dialect

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	// rangeOfNumbers is several numbers or a range of numbers in brackets, as in Slurm's
	// hostlists. In a regular expression it is a class of single characters. Hostlist
	// ignores those without a number of several digits, such as [1-2].
	rangeOfNumbers = regexp.MustCompile(`\[\d+(?:[-,]\d+)+\]`)
	manyDigits     = regexp.MustCompile(`\d\d`)
	braces         = regexp.MustCompile(`\{\w+\.\.\w+\}`)
	globAtEnd      = regexp.MustCompile(`-\*$`)
)

// Hostlist returns, in a sentence each, what in a pattern looks like a hostlist or a glob,
// and means something else in a regular expression.
func Hostlist(pattern string) (habits []string) {
	for _, found := range rangeOfNumbers.FindAllString(pattern, -1) {
		if manyDigits.MatchString(found) {
			habits = append(habits, found+" matches one character, not a range of numbers; kubectl regex hostlist converts a hostlist to a pattern")
		}
	}
	if found := braces.FindString(pattern); found != "" {
		habits = append(habits, found+" stands for these characters, not for a range; write the alternatives, as in (1|2|3)")
	}
	if globAtEnd.MatchString(pattern) {
		habits = append(habits, "-* at the end matches any number of hyphens, not any text; remove it, or write -.*")
	}
	return habits
}

// maxHosts bounds the numbers of all ranges in a hostlist.
const maxHosts = 100_000

// FromHostlist converts a hostlist, such as node[001-128,200],gpu[1-2], to a pattern. The
// pattern is anchored, and matches only these names.
func FromHostlist(list string) (pattern string, err error) {
	var names []string
	hosts := 0
	for _, host := range splitOutside(list) {
		name, err := hostPattern(strings.TrimSpace(host), &hosts)
		if err != nil {
			return "", fmt.Errorf("hostlist %q: %w", list, err)
		}
		names = append(names, name)
	}
	return "^(" + strings.Join(names, "|") + ")$", nil
}

// splitOutside splits at commas that are not in brackets.
func splitOutside(list string) (parts []string) {
	depth, begin := 0, 0
	for i, r := range list {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, list[begin:i])
			begin = i + 1
		}
	}
	return append(parts, list[begin:])
}

func hostPattern(host string, hosts *int) (string, error) {
	var made strings.Builder
	for rest := host; rest != ""; {
		before, inside, found := strings.Cut(rest, "[")
		if strings.ContainsAny(before, "]{}*?") {
			return "", fmt.Errorf("%q: use only ranges in brackets, such as node[01-12]", host)
		}
		made.WriteString(regexp.QuoteMeta(before))
		if !found {
			break
		}
		numbers, after, closed := strings.Cut(inside, "]")
		if !closed {
			return "", fmt.Errorf("%q: a bracket is not closed", host)
		}
		alternatives, err := numbersOf(numbers, hosts)
		if err != nil {
			return "", fmt.Errorf("%q: %w", host, err)
		}
		made.WriteString("(" + strings.Join(alternatives, "|") + ")")
		rest = after
	}
	if host == "" {
		return "", errors.New("a name is empty")
	}
	return made.String(), nil
}

// numbersOf returns the patterns of ranges such as 001-128,200.
func numbersOf(ranges string, hosts *int) (alternatives []string, err error) {
	for part := range strings.SplitSeq(ranges, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, errFrom := strconv.Atoi(first)
		to, errTo := strconv.Atoi(last)
		if errFrom != nil || errTo != nil || from > to || from < 0 {
			return nil, fmt.Errorf("%q is not a valid range of numbers", part)
		}
		if *hosts += to - from + 1; *hosts > maxHosts || *hosts < 0 {
			return nil, fmt.Errorf("more than %d names", maxHosts)
		}
		alternatives = append(alternatives, numberRange(from, to, len(first))...)
	}
	return alternatives, nil
}

// numberRange returns patterns of the numbers in a range, padded with zeros to at least
// width digits.
func numberRange(from, to, width int) (patterns []string) {
	for from <= to {
		// The largest block from here on of which the last digits go from 0 to 9.
		size, digits := 1, 0
		for from%(size*10) == 0 && from+size*10-1 <= to && sameLength(from, from+size*10-1, width) {
			size, digits = size*10, digits+1
		}
		last := from // the digit before these goes up as far as it can
		for (last/size)%10 < 9 && last+2*size-1 <= to && sameLength(from, last+2*size-1, width) {
			last += size
		}
		low, high := fmt.Sprintf("%0*d", width, from), fmt.Sprintf("%0*d", width, last)
		head := low[:len(low)-digits-1]
		digit := low[len(low)-digits-1 : len(low)-digits]
		if end := high[len(high)-digits-1 : len(high)-digits]; end != digit {
			digit = "[" + digit + "-" + end + "]"
		}
		pattern := head + digit
		switch {
		case digits == 1:
			pattern += "[0-9]"
		case digits > 1:
			pattern += fmt.Sprintf("[0-9]{%d}", digits)
		}
		patterns = append(patterns, pattern)
		from = last + size
	}
	return patterns
}

func sameLength(a, b, width int) bool {
	return len(fmt.Sprintf("%0*d", width, a)) == len(fmt.Sprintf("%0*d", width, b))
}
