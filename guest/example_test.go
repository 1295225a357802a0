package guest_test

import (
	"fmt"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/decidesby"
	"wasmkwokwizardry.io/regex-scheduling/guest/filter"
)

// notGPU keeps all pods from the nodes that are for GPUs.
func notGPU(_ guest.Pod, node guest.Node) guest.Status { return judge(node.Name()) }

func judge(name string) guest.Status {
	if strings.HasPrefix(name, "gpu-") {
		return guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: "node(s) were for GPUs only"}
	}
	return guest.Status{}
}

// The init of a guest says what is called, and what the answers depend on. Here the
// example calls it instead of the scheduler.
func Example() {
	filter.Set(notGPU)
	decidesby.Set(guest.NodeName)
	for _, name := range []string{"gpu-1", "web-1"} {
		fmt.Println(name, judge(name).Code == guest.Success)
	}
	// Output:
	// gpu-1 false
	// web-1 true
}
