// Package naming is common to the host of Wasm guests and the native plugin: in PreFilter,
// they name to the scheduler the nodes that a pod may run on.
package naming

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// Named is which nodes of a list qualify.
type Named struct {
	// Nodes is how many nodes qualify.
	Nodes int
	// Result names them, if that is worth it.
	Result *fwk.PreFilterResult
	// Rejected is how many nodes are rejected for which reason, in words, as in the
	// scheduler's events. It is empty if there are none.
	Rejected string
}

// Divide divides the nodes of a list. reasonOf returns why the node at a place does not
// qualify, or "" if it does.
func Divide(list []fwk.NodeInfo, reasonOf func(place int) string) *Named {
	names, rejected := make([]string, 0, len(list)), map[string]*int{}
	last, count := "", (*int)(nil) // most reasons are that of the node before
	for i, node := range list {
		reason := reasonOf(i)
		if reason == "" {
			names = append(names, node.Node().Name)
			continue
		}
		if reason != last {
			last, count = reason, rejected[reason]
			if count == nil {
				count = new(int)
				rejected[reason] = count
			}
		}
		*count++
	}
	n := &Named{Nodes: len(names), Rejected: inWords(rejected)}
	if worth(len(names), len(list)) {
		n.Result = &fwk.PreFilterResult{NodeNames: sets.New(names...)}
	}
	return n
}

func inWords(nodes map[string]*int) string {
	parts := make([]string, 0, len(nodes))
	for reason, n := range nodes {
		parts = append(parts, fmt.Sprintf("%d %s", *n, reason))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// worth reports whether it costs less to name so many of the nodes to the scheduler than
// to let it look for as many as it needs. Each further plugin copies the set, so each name
// has its cost. To reject a node costs about four times that (RATIONALE.md).
func worth(named, nodes int) bool {
	if named == 0 {
		return false
	}
	lookedAt := min(nodes, enough(nodes)*nodes/named)
	return named <= 4*lookedAt*(nodes-named)/nodes
}

// enough is how many nodes kube-scheduler looks for unless its configuration has
// percentageOfNodesToScore (numFeasibleNodesToFind).
func enough(nodes int) int {
	percentage := max(5, 50-nodes/125)
	return min(nodes, max(100, nodes*percentage/100))
}

// Same reports whether two lists of PreFilter have nodes with the same names. The scheduler
// makes a new list when a node is added or deleted. A node that changes is another object
// in the same list. The caller must keep the first list, or a later one could have its
// address.
func Same(a, b []fwk.NodeInfo) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Key is the key of a plugin's Excluder in the CycleState.
func Key(plugin string) fwk.StateKey { return fwk.StateKey("PreFilter" + plugin) }

// Excluder is what a plugin keeps in the CycleState. Excluded is the Rejected of [Named] if nodes
// were named, or else "".
type Excluder interface{ Excluded() string }

// NotNamed is why nodes were not named, in the words of the only plugin that has named some, or else "".
func NotNamed(state fwk.CycleState, plugins []string) string {
	if len(plugins) != 1 {
		return ""
	}
	data, _ := state.Read(Key(plugins[0]))
	plugin, ok := data.(Excluder)
	if !ok {
		return ""
	}
	return plugin.Excluded()
}

// Decider is what the plugin of a Wasm guest keeps in the CycleState. Digest is of the guest that decides in this cycle.
type Decider interface{ Digest() string }
