package kubelets

import (
	"fmt"
	"net/netip"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// addresses are those of pods. Which ones are taken is what the pods that are
// there say, and what was given to those that do not say it yet: so nothing need
// be remembered of pods that are gone, nor over a restart.
type addresses struct {
	pods cache.Indexer // by address

	mu    sync.Mutex
	last  map[netip.Prefix]netip.Addr
	given map[string]*v1.Pod   // by address: as the pod was then
	of    map[types.UID]string // the same, the other way round
}

func newAddresses(pods cache.Indexer) *addresses {
	return &addresses{pods: pods, last: map[netip.Prefix]netip.Addr{}, given: map[string]*v1.Pod{}, of: map[types.UID]string{}}
}

// take finds an address in a range that no other pod has: the same one for as long
// as the pod does not say what it has. They are given in turn, so that one is not
// soon that of another pod.
func (a *addresses) take(in netip.Prefix, pod *v1.Pod) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ip, ok := a.of[pod.UID]; ok {
		return ip, nil
	}
	in = in.Masked()
	last, ok := a.last[in]
	if !ok {
		last = in.Addr() // names the range itself, so it comes last
	}
	for next := last; ; {
		if next = next.Next(); !in.Contains(next) {
			next = in.Addr()
		}
		if ip := next.String(); a.isFree(ip) {
			a.last[in] = next
			a.free(ip)
			a.given[ip], a.of[pod.UID] = pod, ip
			return ip, nil
		}
		if next == last {
			return "", fmt.Errorf("all addresses of %s are taken: delete pods, or choose nodes with a larger spec.podCIDR", in)
		}
	}
}

// isFree is true if no pod says that it has the address, and none was given it and
// is still there.
func (a *addresses) isFree(ip string) bool {
	if keys, err := a.pods.IndexKeys(byAddress, ip); err != nil || len(keys) > 0 {
		return false
	}
	given := a.given[ip]
	if given == nil {
		return true
	}
	now, exists, _ := a.pods.Get(given) // a cache has no errors
	return !exists || now.(*v1.Pod).UID != given.UID || now.(*v1.Pod).Status.PodIP != ""
}

func (a *addresses) free(ip string) {
	if given := a.given[ip]; given != nil {
		delete(a.of, given.UID)
		delete(a.given, ip)
	}
}

// forget forgets what a pod was given, now that it says so itself.
func (a *addresses) forget(pod *v1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.free(pod.Status.PodIP)
}
