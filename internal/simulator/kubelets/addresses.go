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
	given map[string]holder
}

// holder is a pod that was given an address.
type holder struct {
	key string
	uid types.UID
}

func newAddresses(pods cache.Indexer) *addresses {
	return &addresses{pods: pods, last: map[netip.Prefix]netip.Addr{}, given: map[string]holder{}}
}

// take finds an address in a range that no other pod has. They are given in turn,
// so that one is not soon that of another pod.
func (a *addresses) take(in netip.Prefix, pod *v1.Pod) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	in = in.Masked()
	last, ok := a.last[in]
	if !ok {
		last = in.Addr() // names the range itself, so it comes last
	}
	for next := last; ; {
		if next = next.Next(); !in.Contains(next) {
			next = in.Addr()
		}
		if a.isFree(next.String()) {
			a.last[in] = next
			a.given[next.String()] = holder{cache.MetaObjectToName(pod).String(), pod.UID}
			return next.String(), nil
		}
		if next == last {
			return "", fmt.Errorf("all addresses of %s are taken: delete pods, or choose nodes with a larger spec.podCIDR", in)
		}
	}
}

func (a *addresses) isFree(ip string) bool {
	keys, err := a.pods.IndexKeys(byAddress, ip)
	if err != nil {
		panic(err) // there is such an index
	}
	if len(keys) > 0 {
		return false
	}
	given := a.given[ip]
	object, exists, _ := a.pods.GetByKey(given.key) // a cache has no errors
	if !exists {
		return true
	}
	pod := object.(*v1.Pod)
	return pod.UID != given.uid || pod.Status.PodIP != ""
}

// said forgets what a pod was given, now that it says so itself.
func (a *addresses) said(pod *v1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.given, pod.Status.PodIP)
}
