// Package regex is the policy itself: which nodes a pod may run on, named by
// regular expressions in its annotations. A node's name must match the one, if
// there is one, and must not match the other, if there is one.
//
// The package is pure: it has no I/O and no Kubernetes types. Go and TinyGo compile
// the same code. So a pattern means the same in every plugin variant: the same names
// match, and the same patterns are refused with the same message.
//
// [Policy.Selector] makes a [Selector] of a pod's annotations. It refuses a pattern
// that could take too long to compile or to match: one of more than 2,048 bytes, for
// example, or one whose automaton has more than 4,096 states.
package regex

// The default keys of the annotations with a pod's patterns.
const (
	Annotation        = "scheduler.wasmkwokwizardry.io/regex"
	ExcludeAnnotation = "scheduler.wasmkwokwizardry.io/regex-exclude"
)

// Policy names the annotations that carry the patterns.
type Policy struct {
	// Annotation is the key of the pattern that the names of nodes must match.
	Annotation string
	// ExcludeAnnotation is the key of the pattern that they must not match.
	ExcludeAnnotation string
}

// Default reads the keys [Annotation] and [ExcludeAnnotation].
var Default = Policy{Annotation, ExcludeAnnotation}

// Selector returns the selector of a pod with these annotations, or nil if the pod has
// no pattern. The error is always a [*PatternError].
func (p Policy) Selector(annotations map[string]string) (*Selector, error) {
	include, exclude := p.find(annotations)
	return newSelector(include, exclude, p.compile)
}

// Compile is Selector for a pod that has a pattern to match, and none to exclude.
func (p Policy) Compile(pattern string) (*Selector, error) {
	return newSelector(&pattern, nil, p.compile)
}

// find returns the patterns among annotations. One that is not there is nil.
func (p Policy) find(annotations map[string]string) (include, exclude *string) {
	if pattern, ok := annotations[p.Annotation]; ok {
		include = &pattern
	}
	if pattern, ok := annotations[p.ExcludeAnnotation]; ok {
		exclude = &pattern
	}
	return include, exclude
}

// role says what a pattern is for.
type role int

const (
	including role = iota
	excluding
	roles // how many there are
)

// refuse makes the error for a pattern with a problem.
func (p Policy) refuse(r role, pattern, problem string) *PatternError {
	e := &PatternError{Annotation: p.Annotation, Pattern: shorten(pattern), Problem: problem}
	if r == excluding {
		e.Annotation = p.ExcludeAnnotation
	}
	e.text = "annotation " + e.Annotation + ": " + problem + ": " + quote(e.Pattern)
	return e
}
