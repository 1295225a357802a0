package dialect

import "regexp"

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
			habits = append(habits, found+" matches one character, not a range of numbers; write the alternatives, as in (0[1-9]|1[0-2])")
		}
	}
	found := braces.FindString(pattern)
	if found != "" {
		habits = append(habits, found+" stands for these characters, not for a range; write the alternatives, as in (1|2|3)")
	}
	if globAtEnd.MatchString(pattern) {
		habits = append(habits, "-* at the end matches any number of hyphens, not any text; remove it, or write -.*")
	}
	return habits
}
