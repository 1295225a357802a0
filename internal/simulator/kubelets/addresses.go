package kubelets

import (
	"fmt"
	"net/netip"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// addresses are pods' addresses. Which ones are taken is what the pods that are
// there say, and what was given to pods that do not say it yet: so nothing need
// be remembered of pods that are gone, nor over a restart.
type addresses struct {
	pods cache.Indexer // by address

	mu    sync.Mutex
	last  map[netip.Prefix]netip.Addr
	given map[string]*v1.Pod // by address: as the pod was then, until it says so itself
}

func newAddresses(pods cache.Indexer) *addresses {
	return &addresses{pods: pods, last: map[netip.Prefix]netip.Addr{}, given: map[string]*v1.Pod{}}
}

// take finds an address in a range that no other pod has: the same one for as long
// as the pod does not say what it has. They are given in turn, so that one is not
// soon that of another pod.
func (a *addresses) take(in netip.Prefix, pod *v1.Pod) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ip, given := range a.given {
		now, exists, _ := a.pods.Get(given) // a cache has no errors
		switch {
		case given.UID == pod.UID:
			return ip, nil
		case !exists || now.(*v1.Pod).UID != given.UID || now.(*v1.Pod).Status.PodIP != "":
			delete(a.given, ip)
		}
	}
	in = in.Masked()
	last, ok := a.last[in]
	if !ok {
		last = in.Addr() // names the range itself, so it comes last
	}
	for next := last; ; {
		next = next.Next()
		if !in.Contains(next) {
			next = in.Addr()
		}
		ip := next.String()
		keys, err := a.pods.IndexKeys(byAddress, ip)
		if err == nil && len(keys) == 0 && a.given[ip] == nil {
			a.last[in], a.given[ip] = next, pod
			return ip, nil
		}
		if next == last {
			return "", fmt.Errorf("all addresses of %s are taken: delete pods, or choose nodes with a larger spec.podCIDR", in)
		}
	}
}
