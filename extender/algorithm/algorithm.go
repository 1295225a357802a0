// Package algorithm defines what an algorithm of the extender is. It knows neither HTTP
// nor the wire format. Each algorithm has its own folder beside this file, and README.md
// is the checklist for adding one.
package algorithm

import (
	"context"
	"slices"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// The scores that an algorithm may give.
const (
	MinScore = extenderv1.MinExtenderPriority
	MaxScore = extenderv1.MaxExtenderPriority
	// Neutral is the score of a node about which an algorithm has no data.
	Neutral = (MinScore + MaxScore) / 2
)

// Args is a request: a pod and its candidate nodes. It is valid until the call that got it
// returns; its strings stay valid.
type Args struct {
	Pod Pod
	// Names are the names of the candidate nodes, as the request orders them.
	// A node without a name has the empty one, and names may repeat.
	Names []string
}

// Pod has the fields of a pod that algorithms read.
type Pod struct {
	Namespace, Name string
	Annotations     map[string]string
}

// String is namespace/name.
func (p *Pod) String() string { return p.Namespace + "/" + p.Name }

// An Algorithm filters and scores nodes for a pod. Its methods are called concurrently. A
// panic fails the request that caused it, and no other one.
type Algorithm interface {
	// Filter returns, in the order of args.Names, a failure for each node that is
	// rejected and nil for each other one; or a nil slice if all nodes pass. Nodes may
	// share a failure, requests may not share a slice. A mistake in the pod is a failure
	// of every node. Filter is called for candidates of preemption, too. After an error the
	// scheduler tries again, or goes on without an extender that is ignorable in its configuration.
	Filter(ctx context.Context, args *Args) ([]*Failure, error)

	// Prioritize returns a score from MinScore to MaxScore for each node, in the order
	// of args.Names. After an error the scheduler goes on without these scores.
	Prioritize(ctx context.Context, args *Args) ([]int64, error)
}

// A Failure is why a node is rejected.
type Failure struct {
	// Reason is for people. It must not have the node's name in it: the scheduler
	// counts equal reasons.
	Reason string
	// Unresolvable means that evicting other pods would not help, so that none is
	// preempted on the node.
	Unresolvable bool
}

// A Worker is an Algorithm that works in the background. Requests never wait for it.
type Worker interface {
	// Run is called once, before the first request, and returns soon after ctx is
	// done; requests may still come after that.
	Run(ctx context.Context)
	// Health may be bad: requests are still answered.
	Health() Health
}

// Health is the state of an algorithm.
type Health struct {
	OK bool
	// Detail is a line for /readyz.
	Detail string
	// Gauges are exported as metrics, by name.
	Gauges map[string]float64
}

// Equal returns the same score for each of n nodes.
func Equal(score int64, n int) []int64 { return slices.Repeat([]int64{score}, n) }
