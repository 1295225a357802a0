// Command disk is a guest of the scheduler's: a pod with the label example.com/disk
// runs only on nodes that have the same label with the same value.
package main

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/decidesby"
	"wasmkwokwizardry.io/regex-scheduling/guest/filter"
	"wasmkwokwizardry.io/regex-scheduling/guest/prefilter"
)

const label = "example.com/disk"

func init() {
	prefilter.Set(begin)
	filter.Set(suits)
	// The guest sees these fields alone, and is asked once for each pair of values.
	decidesby.Set(guest.PodLabel(label), guest.NodeLabel(label))
}

func main() {} // is not called: a guest is a library

// wanted is what the pod of the cycle asks for.
var wanted string

// begin leaves alone the pods that ask for nothing: they are filtered no further.
func begin(pod guest.Pod) guest.Status {
	var asks bool
	wanted, asks = pod.Label(label)
	if !asks {
		return guest.Status{Code: guest.Skip}
	}
	return guest.Status{}
}

// suits says whether a node has the disk. Evicting other pods would not help where it
// has not, so the code is not Unschedulable.
func suits(_ guest.Pod, node guest.Node) guest.Status {
	has, _ := node.Label(label)
	if has != wanted {
		return guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: "node(s) had no disk of the kind " + wanted}
	}
	return guest.Status{}
}
