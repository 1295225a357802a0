// Package dialect finds patterns that mean something else in another dialect: in Python's
// regular expressions, in hostlists and in globs. Most patterns that differ from RE2 are
// invalid in one of the two dialects. The others are valid in both, and the difference would
// go unnoticed.
package dialect

import "regexp"

var (
	// An escaped character or a class is one atom, so that nothing inside is taken for
	// an operator.
	atoms = regexp.MustCompile(`\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{,\d*\}`)
	posix = regexp.MustCompile(`\[:\^?\w+:\]`)
)

// Python returns, in a sentence each, what Python's re reads differently in a valid
// pattern of RE2.
func Python(pattern string) []string {
	var bounds, class string
	for _, atom := range atoms.FindAllString(pattern, -1) {
		switch {
		case atom[0] == '{':
			bounds = atom
		case atom[0] == '[' && posix.MatchString(atom[1:]): // alone, [:a:] is a set in both
			class = posix.FindString(atom[1:])
		}
	}
	var differences []string
	if bounds != "" {
		differences = append(differences, "in RE2 "+bounds+" stands for these characters; to repeat from zero times on, as in Python, write {0"+bounds[1:])
	}
	if class != "" {
		differences = append(differences, "in RE2 "+class+" is a class of characters; in Python it stands for these characters")
	}
	return differences
}
