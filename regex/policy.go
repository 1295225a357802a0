// Package regex is the policy itself: which nodes a pod may run on, named by
// regular expressions in its annotations. A node's name must match the one, if
// there is one, and must not match the other, if there is one. A third one names
// the nodes that the pod prefers among these.
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

// Key is where the policy has the key of a role's annotation.
func (p *Policy) Key(r Role) *string { return roles[r].key(p) }

// Keys are the keys of all annotations that the policy reads, in the order of their roles.
func (p Policy) Keys() []string {
	keys := make([]string, Roles)
	for r := range Roles {
		keys[r] = *p.Key(r)
	}
	return keys
}

// Selector returns the selector of a pod with these annotations, or nil if the pod may run
// on every node. The error is about any of the pod's patterns, also of what it prefers. It is
// always a [*PatternError].
func (p Policy) Selector(annotations map[string]string) (*Selector, error) {
	patterns := find(annotations, p.Keys())
	return newSelector(patterns[:], true, p.compile)
}

// Preference returns a selector of the nodes that a pod with these annotations prefers, or
// nil if it prefers none. The error is always a [*PatternError].
func (p Policy) Preference(annotations map[string]string) (*Selector, error) {
	patterns := find(annotations, p.Keys())
	return newSelector(patterns[:], false, p.compile)
}

// Compile is Selector for a pod that has a pattern to match, and none to exclude.
func (p Policy) Compile(pattern string) (*Selector, error) {
	return newSelector([]*string{&pattern}, true, p.compile)
}

// find returns the pattern of each role. One that is not there is nil.
func find(annotations map[string]string, keys []string) (patterns [Roles]*string) {
	for r, key := range keys {
		if pattern, ok := annotations[key]; ok {
			patterns[r] = &pattern
		}
	}
	return patterns
}

// refuse makes the error for a pattern with a problem.
func (p Policy) refuse(r Role, pattern, problem string) *PatternError {
	e := &PatternError{Annotation: *p.Key(r), Pattern: shorten(pattern), Problem: problem}
	e.text = "annotation " + e.Annotation + ": " + problem + ": " + quote(e.Pattern)
	return e
}
