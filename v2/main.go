// Command v2 is the fast guest. PreFilter reads the annotations from the pod's protobuf,
// and keeps compiled patterns for later cycles. Filter reads only the node's name from the
// host, and allocates nothing.
package main

import (
	"os"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/decidesby"
	"wasmkwokwizardry.io/regex-scheduling/guest/enqueue"
	"wasmkwokwizardry.io/regex-scheduling/guest/namefilter"
	"wasmkwokwizardry.io/regex-scheduling/guest/namescore"
	"wasmkwokwizardry.io/regex-scheduling/guest/prefilter"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// maxPatterns bounds the compiled patterns that are kept, in bytes: some hundreds of
// usual ones.
const maxPatterns = 512 << 10

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
	namescore.Set(p.preScore, p.score)
	// A new node can help a rejected pod, and so can another annotation.
	enqueue.Set(
		enqueue.ClusterEvent{Resource: enqueue.Node, ActionType: enqueue.Add},
		enqueue.ClusterEvent{Resource: enqueue.Pod, ActionType: enqueue.UpdatePodOther | enqueue.UpdatePodLabel |
			enqueue.UpdatePodTolerations | enqueue.UpdatePodSchedulingGatesEliminated},
	)
	// The kept patterns make hooks faster, and change no result.
	var fields []guest.Field
	for _, key := range policy.Keys() {
		fields = append(fields, guest.PodAnnotation(key))
	}
	decidesby.Set(append(fields, guest.NodeName)...)
}

func main() {}
