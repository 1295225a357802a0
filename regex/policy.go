// Package regex is the policy itself: which nodes a pod may run on, named by a
// regular expression in one of its annotations.
//
// It is pure: no I/O, no Kubernetes types, no package of ours. Go and TinyGo
// compile the same code, so a pattern means the same at every door into the
// scheduler: what matches, what is refused, and in which words.
//
// A pattern goes through [Policy.Compile], which refuses what could be too costly,
// into a [Selector], which matches the names of nodes. What is behind that is in
// internal/dfa.
package regex

// Annotation is the key under which a pod carries its pattern, unless a plugin
// is configured to read another one.
const Annotation = "scheduler.wasmkwokwizardry.io/regex"

// Policy says which annotation carries the pattern.
type Policy struct {
	// Annotation is the key to read.
	Annotation string
}

// Default reads the key [Annotation].
var Default = Policy{Annotation: Annotation}

// Selector returns the selector that the annotations of a pod ask for, or nil
// if they ask for none. The error is always a [*PatternError].
func (p Policy) Selector(annotations map[string]string) (*Selector, error) {
	pattern, ok := annotations[p.Annotation]
	if !ok {
		return nil, nil
	}
	return p.Compile(pattern)
}

// refuse blames a pattern for a problem.
func (p Policy) refuse(pattern, problem string) *PatternError {
	pattern = shorten(pattern)
	text := "annotation " + p.Annotation + ": " + problem + ": " + quote(pattern)
	return &PatternError{Annotation: p.Annotation, Pattern: pattern, Problem: problem, text: text}
}
