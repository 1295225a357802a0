package guest_test

import (
	"fmt"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/guest"
)

// notGPU keeps all pods from the nodes that are for GPUs.
type notGPU struct{ refused guest.Status }

func (*notGPU) PreFilter(guest.Pod) guest.Status { return guest.Status{} }

func (p *notGPU) Filter(nodeName string) *guest.Status {
	if strings.HasPrefix(nodeName, "gpu-") {
		return &p.refused
	}
	return nil
}

func (*notGPU) EventsToRegister() []guest.ClusterEvent {
	return []guest.ClusterEvent{{Resource: guest.NodeResource, ActionType: guest.Add}}
}

func (*notGPU) DecidesBy() []guest.Field { return []guest.Field{guest.NodeName} }

// The main of a guest calls Set and returns. Then the host calls the exports, which
// call the plugin. Here the example does that instead.
func Example() {
	plugin := &notGPU{guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: "node(s) were for GPUs only"}}
	guest.Set(plugin)
	for _, name := range []string{"gpu-1", "web-1"} {
		if status := plugin.Filter(name); status != nil {
			fmt.Println(name, "is refused:", status.Reason)
		} else {
			fmt.Println(name, "passes")
		}
	}
	// Output:
	// gpu-1 is refused: node(s) were for GPUs only
	// web-1 passes
}
