package regex

// Role is what a pattern is for. A further role is a row in the table below, a field of [Policy],
// its key in [Default], and what it does in [Rules].
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
	nodes string // which nodes the pattern is of
	// reason begins the reason of a node that the role rejects. A role without one rejects none.
	reason string
}{
	Require: {
		field:  "annotation",
		nodes:  "nodes that may run the pod",
		reason: "node(s) didn't match the pod's node name regex ",
	},
	Exclude: {
		field:  "excludeAnnotation",
		nodes:  "nodes to exclude",
		reason: "node(s) matched the pod's node name regex-exclude ",
	},
	Prefer: {
		field: "preferAnnotation",
		nodes: "nodes that score higher",
	},
}

// Field is the name of the role's field in the configuration of a plugin.
func (r Role) Field() string { return roles[r].field }

// Nodes says in a few words which nodes the pattern is of, such as "nodes to exclude".
func (r Role) Nodes() string { return roles[r].nodes }

// Rejects reports whether the pattern rejects nodes. Otherwise it scores them.
func (r Role) Rejects() bool { return roles[r].reason != "" }

// Verdict is the result of [Rules.Judge] for a node: Qualifies, or 1 more than the role that rejects it.
type Verdict uint8

const (
	Qualifies Verdict = 0
	Mismatch          = Verdict(1 + Require) // the name does not match the pattern that it must match
	Excluded          = Verdict(1 + Exclude) // the name matches the pattern that it must not match

	Verdicts = 1 + Excluded // how many there are
)
