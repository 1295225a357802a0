package recorder

import (
	"encoding/json"
	"time"
)

// Result is what came of an attempt.
type Result string

const (
	// Scheduled: a node was chosen and the pod bound to it.
	Scheduled Result = "Scheduled"
	// Unschedulable: no node would do. The pod waits until something changes.
	Unschedulable Result = "Unschedulable"
	// Failed: something went wrong. The scheduler tries again by itself.
	Failed Result = "Error"
	// Pending: the attempt is still going on.
	Pending Result = "Pending"
)

// Verdict is what a plugin decides about a pod, or about a pod on a node.
type Verdict string

const (
	// Passed: it has nothing against it.
	Passed Verdict = "Passed"
	// Rejected: it is against it.
	Rejected Verdict = "Failed"
	// Errored: it could not decide.
	Errored Verdict = "Error"
	// Skipped: this pod is none of its business.
	Skipped Verdict = "Skipped"
	// Waits: it lets the pod wait before it is bound.
	Waits Verdict = "Wait"
	// NotRun: it was not asked, since another plugin had decided before, since
	// enough nodes were found, or since a Hint was enough.
	NotRun Verdict = "NotRun"
	// LeftOut: a PreFilter decided about the node before any Filter was asked.
	LeftOut Verdict = "LeftOut"
)

// Attempt is one try to find a node for a pod. It does not change once its
// Result is other than Pending, but for the victims of its Preemption, and where
// the scheduler was stopped while it bound the pod.
type Attempt struct {
	// ID is unique, and higher for later attempts.
	ID uint64 `json:"id"`
	// Number counts the attempts for the pod, from 1.
	Number    int    `json:"number"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// Scheduler is the schedulerName of the profile.
	Scheduler string    `json:"scheduler"`
	Time      time.Time `json:"time"`
	// Duration is that of the scheduling cycle, without binding.
	Duration time.Duration `json:"durationNanoseconds"`
	Result   Result        `json:"result"`
	// Node is the one chosen, or empty.
	Node string `json:"node,omitempty"`
	// Fits is the node that would do, where the pod has none as its PodGroup does not fit.
	Fits string `json:"fits,omitempty"`
	// PodGroup is the one whose pods were all tried with this one. Nil: there is none.
	PodGroup *PodGroup `json:"podGroup,omitempty"`
	// Message is that of the pod's event.
	Message string `json:"message,omitempty"`
	// PreFilter, and PreScore to Bind, are the verdicts on the pod, in the order in
	// which the plugins are asked.
	PreFilter []PluginVerdict `json:"preFilter"`
	// Hint is nil unless a single node was asked, for the sake of an earlier pod.
	Hint *Hint `json:"hint,omitempty"`
	// Columns are the Filter plugins of the profile, in the order in which they
	// are asked of each node, and after them the extenders that filter.
	Columns []Column `json:"columns"`
	// Groups are all nodes, by the verdict on them: what needs attention first.
	// There are none when nothing was filtered.
	Groups []Group `json:"-"`
	// Evaluated is how many nodes were filtered, Total how many there were.
	Evaluated int `json:"evaluatedNodes"`
	Total     int `json:"totalNodes"`
	// PostFilter is their verdict when no node would do, if they were asked.
	PostFilter *PluginVerdict `json:"postFilter,omitempty"`
	// Preemption is nil unless they made room.
	Preemption *Preemption     `json:"preemption,omitempty"`
	PreScore   []PluginVerdict `json:"preScore"`
	// ScoreColumns are the plugins and extenders that scored.
	ScoreColumns []ScoreColumn   `json:"scoreColumns"`
	Reserve      []PluginVerdict `json:"reserve"`
	Permit       []PluginVerdict `json:"permit"`
	PreBind      []PluginVerdict `json:"preBind"`
	Bind         []PluginVerdict `json:"bind"`
	// PushedOut is nil unless the pod ran, and had to make room for another.
	PushedOut *PushedOut `json:"pushedOut,omitempty"`

	scoring *scoring
}

// Hint is why a single node was asked: a moment before, a pod with the same
// signature took a node, and so the next best in the list for that pod is the best
// for this one, if that node has no room left. Kubernetes 1.37 scores it again if it
// has. It is called opportunistic batching.
type Hint struct {
	Node string `json:"node"`
	// Pod is the one for which the list was made, as namespace/name: its attempt
	// has the verdicts and scores of all nodes.
	Pod string `json:"pod"`
}

// PluginVerdict is a plugin's verdict on a pod.
type PluginVerdict struct {
	Plugin  string  `json:"plugin"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"`
	// LimitsNodes: the plugin itself named the nodes that come into question,
	// and the others were not filtered.
	LimitsNodes bool `json:"limitsNodes,omitempty"`
	// Timeout is how long the pod may wait for this plugin.
	Timeout time.Duration `json:"timeoutNanoseconds,omitempty"`
}

// Column is a column in the table of nodes by plugins.
type Column struct {
	// Name is that of the plugin, or the URL of the extender as it was typed.
	Name     string `json:"name"`
	Extender bool   `json:"extender,omitempty"`
	// Skipped: the plugin's PreFilter took it out of this attempt.
	Skipped bool `json:"skipped,omitempty"`
	// Failed is how many nodes it was against.
	Failed int `json:"failed"`

	key string // of the plugin, or extenderKey
}

// Group is the nodes with the same verdict, by the same plugin, for the same reason.
type Group struct {
	// Verdict is Passed, Rejected, Errored, LeftOut or NotRun.
	Verdict Verdict
	// Column indexes Attempt.Columns: who was against them. It is -1 if nobody was,
	// or if that was a plugin without a column, which the reason then names.
	Column int
	Reason string

	nodeSet
}

// Len is how many nodes are in the group.
func (g Group) Len() int { return g.Places.count() }

// Nodes are their names, sorted.
func (g Group) Nodes() []string { return g.sorted() }

// NodeVerdict is the verdict on one node: that of its Group.
type NodeVerdict struct {
	Node    string  `json:"node"`
	Verdict Verdict `json:"verdict"`
	Column  int     `json:"column"`
	Reason  string  `json:"reason,omitempty"`
}

// ScoreColumn is a plugin or an extender that scored.
type ScoreColumn struct {
	Name     string `json:"name"`
	Extender bool   `json:"extender,omitempty"`
	Weight   int64  `json:"weight"`
}

// NodeScore is the row of a node in the table of scores, with a cell for each of
// Attempt.ScoreColumns.
type NodeScore struct {
	Node  string  `json:"node"`
	Total int64   `json:"total"`
	Cells []Score `json:"scores"`
}

// Score is what a plugin gave a node.
type Score struct {
	// Raw is as the plugin gave it, in its own scale.
	Raw int64 `json:"score"`
	// Normalized is between 0 and 100.
	Normalized int64 `json:"normalized"`
	// Weighted is what counted: Normalized times the plugin's weight.
	Weighted int64 `json:"weighted"`
}

// Nodes returns a row for every node, in the order of Groups and by name.
func (a *Attempt) Nodes() []NodeVerdict {
	rows := []NodeVerdict{}
	for _, g := range a.Groups {
		for _, node := range g.Nodes() {
			rows = append(rows, NodeVerdict{node, g.Verdict, g.Column, g.Reason})
		}
	}
	return rows
}

// Scores returns a row for every node that was scored, the best first.
func (a *Attempt) Scores() []NodeScore { return a.scoring.rows() }

// Cell returns a column's verdict on the nodes of a group.
func (a *Attempt) Cell(g Group, column int) Verdict {
	switch {
	case g.Column == column:
		return g.Verdict
	case g.Verdict == NotRun, g.Verdict == LeftOut, g.Column >= 0 && column > g.Column:
		return NotRun
	case a.Columns[column].Skipped:
		return Skipped
	}
	return Passed
}

// fields are those of an attempt that are written as they are.
type fields Attempt

// MarshalJSON writes the attempt with all its rows.
func (a Attempt) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		fields
		Nodes  []NodeVerdict `json:"nodes"`
		Scores []NodeScore   `json:"scores"`
	}{fields(a), a.Nodes(), a.Scores()})
}
