// Package regex is the policy itself: which nodes a pod may run on, named by
// regular expressions in its annotations. A node's name must match the one, if
// there is one, and must not match the other, if there is one. A third one names
// the nodes that the pod prefers among these.
//
// The package is pure: it has no I/O and no Kubernetes types. Go and TinyGo compile
// the same code. So a pattern means the same in every plugin variant: the same names
// match, and the same patterns are refused with the same message.
//
// [Policy.Compile] compiles a pod's annotations to [Rules]. It refuses a pattern
// that could take too long to compile or to match: one of more than 2,048 bytes, for
// example, or one whose automaton has more than 4,096 states.
package regex

// The default keys of the annotations with a pod's patterns.
const (
	Annotation        = "scheduler.wasmkwokwizardry.io/regex"
	ExcludeAnnotation = "scheduler.wasmkwokwizardry.io/regex-exclude"
	PreferAnnotation  = "scheduler.wasmkwokwizardry.io/regex-prefer"
)

// Policy names the annotations that carry the patterns, one for each [Role].
type Policy struct {
	// Annotation is the key of the pattern that the names of nodes must match.
	Annotation string `json:"annotation"`
	// ExcludeAnnotation is the key of the pattern that they must not match.
	ExcludeAnnotation string `json:"excludeAnnotation"`
	// PreferAnnotation is the key of the pattern for the names of nodes that score higher.
	PreferAnnotation string `json:"preferAnnotation"`
}

// Default reads the keys [Annotation], [ExcludeAnnotation] and [PreferAnnotation].
var Default = Policy{Annotation, ExcludeAnnotation, PreferAnnotation}

// Key is the key of a role's annotation.
func (p Policy) Key(r Role) string { return *p.key(r) }

func (p *Policy) key(r Role) *string {
	return [Roles]*string{&p.Annotation, &p.ExcludeAnnotation, &p.PreferAnnotation}[r]
}

// Keys are the keys of all annotations that the policy reads, in the order of their roles.
func (p Policy) Keys() []string {
	return []string{p.Annotation, p.ExcludeAnnotation, p.PreferAnnotation}
}

// refuse makes the error for a pattern with a problem.
func (p Policy) refuse(r Role, pattern, problem string) *PatternError {
	e := &PatternError{Annotation: p.Key(r), Pattern: shorten(pattern), Problem: problem}
	e.text = "annotation " + e.Annotation + ": " + problem + ": " + quote(e.Pattern)
	return e
}
