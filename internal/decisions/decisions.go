// Package decisions is what a running scheduler answers about its attempts to schedule a pod: the
// schema, for the scheduler that writes it and for kubectl's plugin, which must not contain a scheduler.
package decisions

import (
	"encoding/json"
	"fmt"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

const (
	// Path is where a scheduler answers. A namespace follows, a slash, and a pod's name.
	Path = "/debug/decisions/"
	// Audience is of tokens with which a scheduler can be asked, and nothing else: an API server does not accept them.
	Audience = "scheduler.wasmkwokwizardry.io/decisions"
	// Account is the service account that deploy/ has for such tokens, in the scheduler's namespace.
	Account = "custom-scheduler-decisions"
	// ServerName is what a scheduler's certificate is for, where it has one of an authority.
	ServerName = "custom-scheduler"
	// MaxBytes bounds an answer.
	MaxBytes = 1 << 20
	// maxText bounds a text of a plugin in it.
	maxText = 1 << 10
)

// Answer is about a pod, as JSON.
type Answer struct {
	Pod string `json:"pod"` // namespace/name
	// Replica is the scheduler's identity in leader election, or empty without it.
	Replica string `json:"replica,omitempty"`
	// Leader is the identity of the replica to ask, if this one does not lead. The rest is empty then.
	Leader string `json:"leader,omitempty"`
	// Verdict is the last attempt in a sentence.
	Verdict string    `json:"verdict"`
	Time    time.Time `json:"time"` // of the answer
	// Attempts are the last ones, the newest first.
	Attempts []Attempt `json:"attempts"`
	// Dropped is how many attempts the scheduler has forgotten for want of memory, of all pods.
	Dropped uint64 `json:"droppedAttempts"`
	// Shortened: names of nodes, or reasons, are missing, since the answer would be too large.
	Shortened bool `json:"shortened,omitempty"`
}

// Attempt is one attempt to find a node.
type Attempt struct {
	Number    int           `json:"number"` // from 1
	UID       string        `json:"uid"`    // of the pod
	Scheduler string        `json:"schedulerName"`
	Time      time.Time     `json:"time"`
	Duration  time.Duration `json:"durationNanoseconds"` // without binding
	Result    string        `json:"result"`              // Scheduled, Unschedulable, Error or Pending
	Node      string        `json:"node,omitempty"`      // the chosen one
	Message   string        `json:"message,omitempty"`   // of the pod's event
	Evaluated int           `json:"evaluatedNodes"`
	Total     int           `json:"totalNodes"`
	// Plugins are the ones that rejected the pod whatever the node, failed, or delay its binding.
	Plugins []Plugin `json:"plugins,omitempty"`
	// Nodes are the rejected ones. There are none if a node was found.
	Nodes     []Nodes    `json:"nodes,omitempty"`
	Shortages []Shortage `json:"shortages,omitempty"`
	// Nominated is the node on which PostFilter makes room, by preemption of so many pods.
	Nominated string  `json:"nominatedNode,omitempty"`
	Preempted int     `json:"preemptedPods,omitempty"`
	Scores    []Score `json:"scores,omitempty"` // of the best nodes
}

// Plugin is a plugin's verdict on the pod itself.
type Plugin struct {
	Point   string `json:"extensionPoint"`
	Name    string `json:"plugin"`
	Verdict string `json:"verdict"` // Failed, Error or Wait
	Reason  string `json:"reason,omitempty"`
}

// Nodes are the nodes that one plugin rejects for one reason.
type Nodes struct {
	Verdict string   `json:"verdict"` // Failed, Error, or Excluded: by a PreFilter plugin
	Plugin  string   `json:"plugin,omitempty"`
	Reason  string   `json:"reason"`
	Count   int      `json:"count"`
	Names   []string `json:"names,omitempty"` // of the newest attempt only
}

// Shortage is a resource of which nodes have too little left for the pod.
type Shortage struct {
	Resource string `json:"resource"`
	Nodes    int    `json:"nodes"` // how many
	Asked    string `json:"asked"`
	MostFree string `json:"mostFree"` // on one of them
}

// String says what would have to change.
func (s Shortage) String() string {
	lack := "lack"
	if s.Nodes == 1 {
		lack = "lacks"
	}
	return fmt.Sprintf("%s %s %s: %s asked, most free is %s", report.Plural(s.Nodes, "node"), lack, s.Resource, s.Asked, s.MostFree)
}

// Score is what a node scored, with the weights.
type Score struct {
	Node  string `json:"node"`
	Total int64  `json:"total"`
}

// Encode writes the answer, and shortens it until it is at most MaxBytes long.
func (a Answer) Encode() ([]byte, error) {
	for limit := 4 << 10; ; limit /= 8 {
		text, err := json.Marshal(a)
		if err != nil || len(text) <= MaxBytes || limit == 0 {
			return append(text, '\n'), err
		}
		a.shorten(limit)
	}
}

// shorten keeps so many names and reasons of each attempt.
func (a *Answer) shorten(limit int) {
	a.Shortened = true
	for i := range a.Attempts {
		of := &a.Attempts[i]
		of.Nodes = of.Nodes[:min(len(of.Nodes), limit)]
		for j := range of.Nodes {
			of.Nodes[j].Names = of.Nodes[j].Names[:min(len(of.Nodes[j].Names), limit)]
		}
	}
}

// Short cuts a text of a plugin.
func Short(text string) string {
	if len(text) > maxText {
		return text[:maxText] + "…"
	}
	return text
}
