package dialect

import (
	"slices"
	"strings"
)

// ofHostlist is the pattern that matches the names of a hostlist alone, or "" for what is none.
func ofHostlist(list string) string {
	list = strings.TrimSuffix(strings.TrimPrefix(list, "^"), "$")
	names := hosts.FindAllString(list, -1)
	if strings.Join(names, ",") != list {
		return ""
	}
	for i, name := range names {
		name = strings.TrimSpace(name)
		if !host.MatchString(name) {
			return ""
		}
		good := true
		name = brackets.ReplaceAllStringFunc(strings.ReplaceAll(name, ".", `\.`), func(found string) string {
			var alternatives []string
			for part := range strings.SplitSeq(strings.Trim(found, "[]"), ",") {
				ofPart := ofRange(part)
				good = good && ofPart != nil
				alternatives = append(alternatives, ofPart...)
			}
			return oneOf(alternatives)
		})
		if !good {
			return ""
		}
		names[i] = name
	}
	return "^" + oneOf(names) + "$"
}

func oneOf(patterns []string) string {
	if len(patterns) == 1 {
		return patterns[0]
	}
	return "(" + strings.Join(patterns, "|") + ")"
}

// ofRange returns the patterns of the numbers of a range such as 01-128, which has 01 and not 1; nil if it is none.
func ofRange(numbers string) (patterns []string) {
	low, high, found := strings.Cut(numbers, "-")
	if !found {
		return []string{low}
	}
	for ; len(low) < len(high); low = "1" + strings.Repeat("0", len(low)) {
		patterns = append(patterns, ofDigits(low, strings.Repeat("9", len(low)))...)
	}
	if len(low) > len(high) || low > high {
		return nil
	}
	return append(patterns, ofDigits(low, high)...)
}

// ofDigits returns the patterns of the numbers from low to high, both of the same length.
func ofDigits(low, high string) (patterns []string) {
	if low == "" {
		return []string{""}
	}
	first, last := low[0], high[0]
	if first == last {
		return after(first, ofDigits(low[1:], high[1:]))
	}
	zeros, nines := strings.Repeat("0", len(low)-1), strings.Repeat("9", len(low)-1)
	var end []string
	if low[1:] != zeros {
		patterns = after(first, ofDigits(low[1:], nines))
		first++
	}
	if high[1:] != nines {
		end = after(last, ofDigits(zeros, high[1:]))
		last--
	}
	if first <= last {
		patterns = append(patterns, digits(first, last)+strings.Repeat("[0-9]", len(zeros)))
	}
	return slices.Concat(patterns, end)
}

// after puts a digit before each pattern.
func after(digit byte, patterns []string) []string {
	for i := range patterns {
		patterns[i] = string(digit) + patterns[i]
	}
	return patterns
}

func digits(first, last byte) string {
	switch last - first {
	case 0:
		return string(first)
	case 1:
		return "[" + string(first) + string(last) + "]"
	}
	return "[" + string(first) + "-" + string(last) + "]"
}
