// Command by_label is a guest that looks at several nodes in one call. PreScore skips a pod
// if no node that passed has the label fast, and PostFilter nominates a node that has it.
package main

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/filter"
	"wasmkwokwizardry.io/regex-scheduling/guest/postfilter"
	"wasmkwokwizardry.io/regex-scheduling/guest/prescore"
	"wasmkwokwizardry.io/regex-scheduling/guest/score"
)

func init() {
	filter.Set(func(guest.Pod, guest.Node) guest.Status { return guest.Status{} })
	score.Set(func(guest.Pod, guest.Node) (int32, guest.Status) { return 0, guest.Status{} })
	prescore.Set(func(_ guest.Pod, nodes []string) guest.Status {
		for _, name := range nodes {
			if fast(name) {
				return guest.Status{}
			}
		}
		return guest.Status{Code: guest.Skip}
	})
	postfilter.Set(func(_ guest.Pod, codes map[string]guest.Code) (string, guest.Status) {
		for name := range codes {
			if fast(name) {
				return name, guest.Status{}
			}
		}
		return "", guest.Status{Code: guest.Unschedulable}
	})
}

func main() {}

func fast(node string) bool {
	_, ok := guest.NodeNamed(node).Label("fast")
	return ok
}
