// Package dialect tells of patterns that mean something else in another dialect
// of regular expressions. People bring patterns from schedulers' extenders written
// in Python; most of what differs from RE2 is refused there or here, and so needs
// no telling. What both take, and read differently, nobody would notice.
package dialect

import "regexp"

var (
	// An escaped character or a class is skipped whole, so that what stands in it is
	// not taken for more than itself.
	atoms = regexp.MustCompile(`\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{,\d*\}`)
	posix = regexp.MustCompile(`\[:\^?\w+:\]`)
)

// Python says, a sentence each, what Python's re would read differently in a
// pattern that RE2 takes.
func Python(pattern string) []string {
	var bounds, class string
	for _, atom := range atoms.FindAllString(pattern, -1) {
		switch {
		case atom[0] == '{':
			bounds = atom
		case atom[0] == '[' && posix.MatchString(atom[1:]): // on its own [:a:] is a set in both
			class = posix.FindString(atom[1:])
		}
	}
	var differences []string
	if bounds != "" {
		differences = append(differences, "in RE2 "+bounds+" is these characters and nothing else; to repeat from zero times on, as in Python, write {0"+bounds[1:])
	}
	if class != "" {
		differences = append(differences, "in RE2 "+class+" is a class of characters; in Python it is the characters themselves")
	}
	return differences
}
