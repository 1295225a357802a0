package recorder

import (
	"encoding/json"
	"slices"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
)

// Result is the outcome of an attempt.
type Result string

const (
	// Scheduled: a node was chosen and the pod bound to it.
	Scheduled Result = "Scheduled"
	// Unschedulable: no node passes. The pod stays pending until something changes.
	Unschedulable Result = "Unschedulable"
	// Failed: an error. The scheduler tries again by itself.
	Failed Result = "Error"
	// Pending: the attempt has not ended.
	Pending Result = "Pending"
)

// Verdict is what a plugin decides about a pod, or about a pod on a node.
type Verdict string

const (
	// Passed: it accepts it.
	Passed Verdict = "Passed"
	// Rejected: it does not accept it.
	Rejected Verdict = "Failed"
	// Errored: it failed.
	Errored Verdict = "Error"
	// Skipped: it is not applicable to this pod.
	Skipped Verdict = "Skipped"
	// Waits: it delays the binding.
	Waits Verdict = "Wait"
	// NotRun: it did not run, since an earlier plugin had decided, enough nodes were
	// found, or a Hint was enough.
	NotRun Verdict = "NotRun"
	// Excluded: a PreFilter excluded the node, so that no Filter ran on it.
	Excluded Verdict = "Excluded"
)

// Attempt is one try to find a node for a pod. Once its Result is not Pending, only the
// victims of its Preemption change, and the Result if the scheduler stopped during binding.
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
	// Duration is how long the scheduling cycle took, without binding.
	Duration time.Duration `json:"durationNanoseconds"`
	Result   Result        `json:"result"`
	// Node is the chosen one, or empty.
	Node string `json:"node,omitempty"`
	// Fits is the node that passes for a pod that does not get it, since its PodGroup does not fit.
	Fits string `json:"fits,omitempty"`
	// PodGroup is the pod's, if all of its pods are scheduled as one, or nil.
	PodGroup *PodGroup `json:"podGroup,omitempty"`
	// Message is the message of the pod's event.
	Message string `json:"message,omitempty"`
	// PreFilter, and PreScore to Bind, are the verdicts on the pod, in the order in
	// which the plugins run.
	PreFilter []PluginVerdict `json:"preFilter"`
	// Hint is not nil if only one node was evaluated, which an earlier pod's scores suggest.
	Hint *Hint `json:"hint,omitempty"`
	// Columns are the Filter plugins of the profile, in the order in which they run,
	// and after them the extenders that filter.
	Columns []Column `json:"columns"`
	// Groups are all nodes, by the verdict on them: errors first, then rejections.
	// There are none if Filter did not run.
	Groups []Group `json:"-"`
	// Evaluated is how many nodes were filtered, Total how many there were.
	Evaluated int `json:"evaluatedNodes"`
	Total     int `json:"totalNodes"`
	// Shortages are the resources of which nodes have too little left.
	Shortages []decisions.Shortage `json:"shortages,omitempty"`
	// PostFilter is the verdict of these plugins, or nil if they did not run.
	PostFilter *PluginVerdict `json:"postFilter,omitempty"`
	// Preemption is not nil if they nominated a node.
	Preemption *Preemption     `json:"preemption,omitempty"`
	PreScore   []PluginVerdict `json:"preScore"`
	// ScoreColumns are the plugins and extenders that scored.
	ScoreColumns []ScoreColumn   `json:"scoreColumns"`
	Reserve      []PluginVerdict `json:"reserve"`
	Permit       []PluginVerdict `json:"permit"`
	PreBind      []PluginVerdict `json:"preBind"`
	Bind         []PluginVerdict `json:"bind"`
	// Preempted is not nil if the pod ran and was preempted.
	Preempted *Preempted `json:"preempted,omitempty"`

	scoring *scoring
}

// Hint is a node that the scheduler takes from the list of an earlier pod with the same
// signature (opportunistic batching): the next best one, once the best is full.
type Hint struct {
	Node string `json:"node"`
	// Pod is that earlier pod, as namespace/name: its attempt has the verdicts on all
	// nodes and their scores.
	Pod string `json:"pod"`
}

// PluginVerdict is a plugin's verdict on a pod.
type PluginVerdict struct {
	Plugin  string  `json:"plugin"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"`
	// LimitsNodes: the plugin named the nodes to evaluate, and no Filter ran on others.
	LimitsNodes bool `json:"limitsNodes,omitempty"`
	// Timeout is the longest time that Permit may delay the binding.
	Timeout time.Duration `json:"timeoutNanoseconds,omitempty"`
	// Guest is the digest of the Wasm guest that decided, if one did.
	Guest string `json:"guest,omitempty"`
}

// Column is a column in the table of nodes by plugins.
type Column struct {
	// Name is the plugin's, or the URL of the extender as the configuration has it.
	Name     string `json:"name"`
	Extender bool   `json:"extender,omitempty"`
	// Skipped: the plugin's PreFilter took it out of this attempt.
	Skipped bool `json:"skipped,omitempty"`
	// Failed is the number of nodes that it rejected.
	Failed int `json:"failed"`

	key string // of the plugin, or extenderKey
}

// Group is the nodes with the same verdict, by the same plugin, for the same reason.
type Group struct {
	// Verdict is Passed, Rejected, Errored, Excluded or NotRun.
	Verdict Verdict
	// Column indexes Attempt.Columns: what rejected them. It is -1 if none did, or
	// a plugin without a column, which the reason then names.
	Column int
	Reason string
	// Lacking are the resources of which they have too little left, if that is why: "cpu, memory".
	Lacking string `json:",omitempty"`

	nodeSet
}

// Len is the number of nodes in the group.
func (g Group) Len() int { return g.Places.count() }

// equal reports whether two groups are the same, of the same list of nodes.
func (g Group) equal(other Group) bool {
	return g.Verdict == other.Verdict && g.Column == other.Column && g.Reason == other.Reason && g.Lacking == other.Lacking &&
		&g.names[0] == &other.names[0] && slices.Equal(g.Places, other.Places)
}

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

// Score is a plugin's score of a node.
type Score struct {
	// Raw is in the plugin's own scale.
	Raw int64 `json:"score"`
	// Normalized is between 0 and 100.
	Normalized int64 `json:"normalized"`
	// Weighted is Normalized times the plugin's weight. Their sum decides.
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
	case g.Verdict == NotRun, g.Verdict == Excluded, g.Column >= 0 && column > g.Column:
		return NotRun
	case a.Columns[column].Skipped:
		return Skipped
	}
	return Passed
}

// fields are the fields of an attempt that JSON has as they are.
type fields Attempt

// MarshalJSON writes the attempt with all its rows.
func (a Attempt) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		fields
		Nodes  []NodeVerdict `json:"nodes"`
		Scores []NodeScore   `json:"scores"`
	}{fields(a), a.Nodes(), a.Scores()})
}
