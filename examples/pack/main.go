// Command pack is a guest: of the nodes where a pod can run, it prefers those where most of a resource is
// requested, so that others stay free for pods that need much of it.
package main

import (
	"cmp"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/decidesby"
	"wasmkwokwizardry.io/regex-scheduling/guest/score"
)

func init() {
	resource := cmp.Or(string(guest.Config()), "nvidia.com/gpu") // the plugin's guestConfig
	score.Set(func(pod guest.Pod, node guest.Node) (int32, guest.Status) {
		requests, _ := pod.Requests(resource)
		if requests == 0 {
			return 0, guest.Status{} // of the pod, or the host does not count: no node is preferred
		}
		allocatable, _ := node.Allocatable(resource)
		requested, _ := node.Requested(resource)
		return share(requested+requests, allocatable), guest.Status{}
	})
	decidesby.Set(guest.PodRequests(resource), guest.NodeAllocatable(resource), guest.NodeRequested(resource))
}

func main() {}

// share is how much of a node is requested, in percent.
func share(requested, allocatable int64) int32 {
	if allocatable <= 0 {
		return 0
	}
	return int32(min(requested, allocatable) * 100 / allocatable)
}
