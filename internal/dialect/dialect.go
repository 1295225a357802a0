// Package dialect finds patterns that mean something else in another dialect: in Python's
// regular expressions, in hostlists and in globs. Most patterns that differ from RE2 are
// invalid in one of the two dialects. The others are valid in both, and the difference would
// go unnoticed.
package dialect

import (
	"regexp"
	"strings"
)

var (
	// An escaped character or a class is one atom, so that nothing inside is taken for
	// an operator.
	atoms = regexp.MustCompile(`\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{,\d*\}`)
	posix = regexp.MustCompile(`\[:\^?\w+:\]`)

	// Several numbers or a range of numbers in brackets, as in Slurm's hostlists, one of which has several digits. In a regular
	// expression it is a class of single characters.
	numbers    = regexp.MustCompile(`\[\d+(?:[-,]\d+)+\]`)
	manyDigits = regexp.MustCompile(`\d\d`)
	host       = regexp.MustCompile(`^(?:[a-z0-9.-]|\[\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*\])+$`)
	brackets   = regexp.MustCompile(`\[[^\]]*\]`)
	hosts      = regexp.MustCompile(`(?:[^,[]|\[[^\]]*\])+`) // between commas that are not in brackets
	braces     = regexp.MustCompile(`\{\w+\.\.\w+\}`)

	// The signs of a glob in a plain name: at the end they change no match. Among the operators of a regular expression, ? is one
	// of them, and only a * that changes no match, or repeats a hyphen, is a sign.
	glob     = regexp.MustCompile(`[\w-][*?]$|-\*(?:-|\.[^*?])|\?\?`)
	globStar = regexp.MustCompile(`[\w-]\*$|-\*\$$|-\*-`)
	// No glob has these: it is a regular expression, though all its characters can be in a glob.
	anyText  = regexp.MustCompile(`\.[*?]`)
	repeated = regexp.MustCompile(`\{\d+(?:,\d*)?\}`)
	separate = regexp.MustCompile(`[,\s]+`)
	plain    = regexp.MustCompile(`^[a-z0-9.*?-]+$`)
	fromGlob = strings.NewReplacer(".", `\.`, "*", ".*", "?", ".")
)

// Python returns, in a sentence each, what Python's re reads differently in a valid
// pattern of RE2.
func Python(pattern string) (differences []string) {
	var bounds, class string
	for _, atom := range atoms.FindAllString(pattern, -1) {
		switch {
		case atom[0] == '{':
			bounds = atom
		case atom[0] == '[' && posix.MatchString(atom[1:]): // alone, [:a:] is a set in both
			class = posix.FindString(atom[1:])
		}
	}
	if bounds != "" {
		differences = append(differences, "in RE2 "+bounds+" stands for these characters; to repeat from zero times on, as in Python, write {0"+bounds[1:])
	}
	if class != "" {
		differences = append(differences, "in RE2 "+class+" is a class of characters; in Python it stands for these characters")
	}
	return differences
}

// Hostlist returns, in a sentence each, what in a pattern looks like a hostlist, a list of names or a glob,
// and means something else in a regular expression.
func Hostlist(pattern string) (habits []string) {
	for _, found := range numbers.FindAllString(pattern, -1) {
		if manyDigits.MatchString(found) {
			meant := ofHostlist(strings.TrimSpace(pattern))
			if meant != "" {
				return []string{found + " matches one character, not a range of numbers; for these names write " + meant}
			}
			habits = append(habits, found+" matches one character, not a range of numbers; write the alternatives, as in (0[1-9]|1[0-2])")
		}
	}
	found := braces.FindString(pattern)
	if found != "" {
		habits = append(habits, found+" stands for these characters, not for a range; write the alternatives, as in (1|2|3)")
	}
	return append(habits, wildcards(strings.TrimSpace(pattern))...)
}

// wildcards is Hostlist for the signs of globs and of lists of names. It names the pattern that was meant, where the rest is a plain name.
// It does not know which annotation has the pattern.
func wildcards(pattern string) []string {
	excluded, excludes := strings.CutPrefix(pattern, "!")
	if excludes {
		meant := ""
		switch {
		case isGlob(excluded) && strings.ContainsAny(excluded, "*?"):
			meant = ": " + ofGlob(excluded)
		case plain.MatchString(excluded):
			meant = ": " + excluded
		}
		return []string{"! stands for this character, which no node's name has; to exclude nodes, the annotation regex-exclude takes their pattern without !" + meant}
	}
	operators := repeated.ReplaceAllString(atoms.ReplaceAllString(pattern, "()"), "()")
	const unlikeGlob = "* and ? repeat the character before them, and stand for no others as in a glob; "
	switch {
	case separate.MatchString(operators):
		return []string{"no node's name has a comma or a space; for a list of names write " + alternatives(separate.Split(pattern, -1))}
	case isGlob(pattern) && glob.MatchString(pattern):
		return []string{unlikeGlob + "for names like that write " + ofGlob(pattern)}
	case globStar.MatchString(operators):
		return []string{unlikeGlob + "for any text write .*, and . for one character"}
	}
	return nil
}

// alternatives is the pattern of a list of names or globs.
func alternatives(names []string) string {
	for i, name := range names {
		if !plain.MatchString(name) {
			return "the alternatives, as in ^(node-1|node-2)$"
		}
		if isGlob(name) {
			names[i] = fromGlob.Replace(name)
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// isGlob reports whether a pattern with the signs of a glob, if any, is a plain name otherwise.
func isGlob(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return plain.MatchString(pattern) && (err != nil || !anyText.MatchString(pattern))
}

// ofGlob is the pattern that matches the names that a glob does.
func ofGlob(names string) string {
	pattern := fromGlob.Replace(names)
	begin, ok := strings.CutSuffix(pattern, ".*")
	if ok && begin != "" {
		return "^" + begin
	}
	return "^" + pattern + "$"
}

// Pasted returns, in a sentence each, what is around a pattern that was pasted with it, and keeps it from matching any node.
func Pasted(pattern string) (remains []string) {
	inner := strings.TrimSpace(pattern)
	if strings.HasSuffix(pattern, "\n") && inner != "" {
		remains = append(remains, "it ends with a line break, which no node's name has; write |- in place of |, or the pattern in quotes")
	} else if inner != pattern && inner != "" {
		remains = append(remains, "it begins or ends with white space, which no node's name has; remove that")
	}
	if len(inner) > 2 && strings.ContainsRune("'\"`", rune(inner[0])) && inner[0] == inner[len(inner)-1] {
		remains = append(remains, "the quotes are part of it, and no node's name has quotes; remove them")
	}
	return remains
}
