// Command v2 is the fast guest: PreFilter reads the annotation from the pod's
// wire bytes and compiles it at most once for many cycles, Filter asks the host
// for nothing but the node's name and allocates nothing.
package main

import (
	"os"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/decidesby"
	"wasmkwokwizardry.io/regex-scheduling/guest/enqueue"
	"wasmkwokwizardry.io/regex-scheduling/guest/namefilter"
	"wasmkwokwizardry.io/regex-scheduling/guest/prefilter"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// maxSelectors bounds the compiled patterns that are kept, in bytes: some hundreds of
// those that people write.
const maxSelectors = 512 << 10

func init() {
	policy, err := regex.ParseConfig(guest.Config())
	if err != nil {
		// The host shows stderr of a guest that does not start.
		os.Stderr.WriteString("guestConfig: " + err.Error() + "\n")
		os.Exit(1)
	}
	p := newPlugin(policy)
	prefilter.Set(p.preFilter)
	namefilter.Set(p.filter)
	// A new node can help a rejected pod, and another annotation.
	enqueue.Set(
		enqueue.ClusterEvent{Resource: enqueue.Node, ActionType: enqueue.Add},
		enqueue.ClusterEvent{Resource: enqueue.Pod, ActionType: enqueue.UpdatePodOther | enqueue.UpdatePodLabel |
			enqueue.UpdatePodTolerations | enqueue.UpdatePodSchedulingGatesEliminated},
	)
	// The selectors that are kept make answers faster, and change none.
	decidesby.Set(guest.PodAnnotation(policy.Annotation), guest.PodAnnotation(policy.ExcludeAnnotation), guest.NodeName)
}

func main() {}
