// Package naming is what the host of Wasm guests and the native plugin share: they
// name to the scheduler, in PreFilter, the nodes that a pod may run on.
package naming

import (
	"fmt"
	"slices"
	"strings"

	fwk "k8s.io/kube-scheduler/framework"
)

// Worth reports whether it is worth to name so many of the nodes to the scheduler,
// and not to have it look for as many as it needs. To name one costs it something
// for each plugin behind, which copies the set, and to reject one on the way about
// four times that (BenchmarkNaming).
func Worth(named, nodes int) bool {
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

// Same reports whether two lists that PreFilter got are of nodes with the same
// names. The scheduler makes a new list when nodes come or go; a node that changes
// is another object in the same list. Whoever compares must keep the first list,
// or another one could come to have its place in memory.
func Same(a, b []fwk.NodeInfo) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Key is where a plugin that names nodes leaves a LeftOut in the CycleState.
func Key(plugin string) fwk.StateKey { return fwk.StateKey("PreFilter" + plugin) }

// LeftOut says in words, as Rejected does, why nodes were not named. It is empty
// where all nodes were.
type LeftOut interface{ LeftOut() string }

// Rejected says in words why nodes were left out, with their numbers, as the
// scheduler does in its events.
func Rejected(nodes map[string]int) string {
	parts := make([]string, 0, len(nodes))
	for reason, n := range nodes {
		parts = append(parts, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
