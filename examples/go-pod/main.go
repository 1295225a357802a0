// Command gopod is a guest in plain Go that decodes the whole pod with k8s.io/api: a pod
// that asks for a GPU runs only on nodes whose name begins with "gpu-".
package main

import (
	"strings"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/filter"
	"wasmkwokwizardry.io/regex-scheduling/guest/prefilter"
)

const gpu v1.ResourceName = "nvidia.com/gpu"

func init() {
	prefilter.Set(begin)
	filter.Set(suits)
}

func main() {} // is not called: a guest is a library

// begin leaves alone the pods that ask for no GPU: they are filtered no further.
func begin(p guest.Pod) guest.Status {
	var pod v1.Pod
	if err := pod.Unmarshal(p.Protobuf()); err != nil {
		return guest.Status{Code: guest.Error, Reason: "read the pod: " + err.Error()}
	}
	for _, container := range pod.Spec.Containers {
		quantity := container.Resources.Limits[gpu]
		if !quantity.IsZero() {
			return guest.Status{}
		}
	}
	return guest.Status{Code: guest.Skip}
}

func suits(_ guest.Pod, node guest.Node) guest.Status {
	if !strings.HasPrefix(node.Name(), "gpu-") {
		return guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: "node(s) had no GPU by their name"}
	}
	return guest.Status{}
}
