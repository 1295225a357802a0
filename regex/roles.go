package regex

// Role is what a pattern is for: the number of a row in the table below. A further role is a
// row, a field of [Policy], and its key in [Default].
type Role int

const (
	Require Role = iota // nodes whose names do not match are rejected
	Exclude             // nodes whose names match are rejected
	Prefer              // nodes whose names match score higher
)

// Roles is how many roles there are.
const Roles = Role(len(roles))

var roles = [...]struct {
	field string // in a plugin's configuration
	key   func(*Policy) *string
	nodes string // which nodes the pattern is of
	// reason begins the reason of a node that the role rejects. A role without one rejects none.
	reason       string
	rejectsMatch bool // else it rejects a name that does not match
}{
	Require: {
		field:  "annotation",
		key:    func(p *Policy) *string { return &p.Annotation },
		nodes:  "nodes that may run the pod",
		reason: "node(s) didn't match the pod's node name regex ",
	},
	Exclude: {
		field:        "excludeAnnotation",
		key:          func(p *Policy) *string { return &p.ExcludeAnnotation },
		nodes:        "nodes to exclude",
		reason:       "node(s) matched the pod's node name regex-exclude ",
		rejectsMatch: true,
	},
	Prefer: {
		field: "preferAnnotation",
		key:   func(p *Policy) *string { return &p.PreferAnnotation },
		nodes: "nodes that score higher",
	},
}

// Field is the name of the role's field in the configuration of a plugin.
func (r Role) Field() string { return roles[r].field }

// Nodes says in a few words which nodes the pattern is of, such as "nodes to exclude".
func (r Role) Nodes() string { return roles[r].nodes }

// Rejects reports whether the pattern rejects nodes. Otherwise it scores them.
func (r Role) Rejects() bool { return roles[r].reason != "" }

// Verdict is the result of a [Selector] for a node. Besides Qualifies there is one for each role.
type Verdict uint8

const (
	Qualifies Verdict = 0
	Mismatch          = Verdict(1 + Require) // the name does not match the pattern that it must match
	Excluded          = Verdict(1 + Exclude) // the name matches the pattern that it must not match

	Verdicts = 1 + Roles // how many there are
)
