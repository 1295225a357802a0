// Package algorithm says what an algorithm of the extender is. It is no API.
//
// It knows neither HTTP nor the wire format, and no algorithm in particular:
// each has a folder of its own beside this file, and README.md is the checklist
// for adding one.
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
	// Neutral is what a node gets of which an algorithm knows nothing.
	Neutral = (MinScore + MaxScore) / 2
)

// Args is a request: a pod and the nodes that are left for it. It is good
// until the call that got it returns; the strings in it are good forever.
type Args struct {
	Pod Pod
	// Names are the names of the candidate nodes, as the request orders them.
	// A node without a name has the empty one, and names may repeat.
	Names []string
}

// Pod is what algorithms want to know of a pod.
type Pod struct {
	Namespace, Name string
	Annotations     map[string]string
}

// String is namespace/name.
func (p *Pod) String() string { return p.Namespace + "/" + p.Name }

// An Algorithm says which nodes may run a pod, and how well. Its methods are
// called concurrently. A panic costs the request that caused it, nothing more.
type Algorithm interface {
	// Filter returns a failure for each node that may not run the pod and nil
	// for each other, in the order of args.Names; or a nil slice if all may.
	// Failures may be shared, the slice not. What is wrong with the pod is a
	// failure of every node. An error is a fault of the algorithm: the scheduler
	// tries again and again, or, if its configuration says that the extender is
	// ignorable, decides without.
	Filter(ctx context.Context, args *Args) ([]*Failure, error)

	// Prioritize returns a score from MinScore to MaxScore for each node, in
	// the order of args.Names. An error leaves the scheduler with the scores
	// of others.
	Prioritize(ctx context.Context, args *Args) ([]int64, error)
}

// A Failure is why a node may not run a pod.
type Failure struct {
	// Reason is for people. Without the node's name in it, the scheduler adds
	// equal reasons up.
	Reason string
	// Unresolvable means that evicting other pods would not help.
	Unresolvable bool
}

// A Worker is an Algorithm that works in the background. Requests never wait for
// that.
type Worker interface {
	// Run is called once, before the first request, and returns soon after ctx is
	// done; requests may still come after that.
	Run(ctx context.Context)
	// Health may be bad. Requests are answered anyway.
	Health() Health
}

// Health is how an algorithm is doing.
type Health struct {
	OK bool
	// Detail is a line for /readyz.
	Detail string
	// Gauges are exported as metrics, by name.
	Gauges map[string]float64
}

// Equal returns the same score for each of n nodes.
func Equal(score int64, n int) []int64 { return slices.Repeat([]int64{score}, n) }
