package scenario

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// Host is a plugin, made by the host under test.
type Host interface {
	// Ask calls one hook.
	Ask(Question) Answer
}

// Question is one call of a hook. What a hook is not given is empty.
type Question struct {
	Hook        string
	Pod, Target *v1.Pod
	Node        string   // hooks that are called for one node
	Nodes       []string // prescore
	Statuses    map[string]int
	Scores      map[string]int64
}

// Answer is what a hook returned. What it does not return is empty.
type Answer struct {
	// Missing is true if the plugin does not have the hook.
	Missing bool
	Status  *Status

	NodeNames []string // prefilter; nil is all
	Nominated string   // postfilter
	Mode      int
	Score     int64
	Scores    map[string]int64
	Timeout   time.Duration
	Events    []Event
}

// Status is a status of the framework. Trap is set if the guest trapped, which each host reports
// in its own words.
type Status struct {
	Code   string
	Reason string
	Trap   bool
}

// Event is an event that requeues pods.
type Event struct {
	Resource string
	Actions  []string
}

// actions are the bits of framework.ActionType in Kubernetes 1.32, which are the
// ABI's.
var actions = []string{
	"Add", "Delete",
	"UpdateNodeAllocatable", "UpdateNodeLabel", "UpdateNodeTaint", "UpdateNodeCondition", "UpdateNodeAnnotation",
	"UpdatePodLabel", "UpdatePodScaleDown", "UpdatePodTolerations", "UpdatePodSchedulingGatesEliminated",
	"UpdatePodGeneratedResourceClaim", "UpdatePodOther",
}

// All are all actions.
const All = "everything"

// Actions names the bits of an ActionType of Kubernetes 1.32.
func Actions(bits uint64) []string {
	if bits == 1<<len(actions)-1 {
		return []string{All}
	}
	var names []string
	for i, name := range actions {
		if bits&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
