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
	taken map[share]string // the same, the other way round
}

// share is what a pod has of a range.
type share struct {
	uid types.UID
	in  netip.Prefix
}

// holder is a pod that was given an address.
type holder struct {
	key string
	share
}

func newAddresses(pods cache.Indexer) *addresses {
	return &addresses{pods: pods, last: map[netip.Prefix]netip.Addr{}, given: map[string]holder{}, taken: map[share]string{}}
}

// take finds an address in a range that no other pod has: the same one for as long
// as the pod does not say what it has. They are given in turn, so that one is not
// soon that of another pod.
func (a *addresses) take(in netip.Prefix, pod *v1.Pod) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	in = in.Masked()
	if ip, ok := a.taken[share{pod.UID, in}]; ok {
		return ip, nil
	}
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
			a.give(next.String(), holder{cache.MetaObjectToName(pod).String(), share{pod.UID, in}})
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

func (a *addresses) give(ip string, to holder) {
	delete(a.taken, a.given[ip].share)
	a.given[ip], a.taken[to.share] = to, ip
}

// said forgets what a pod was given, now that it says so itself.
func (a *addresses) said(pod *v1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, ip := range ipsOf(pod) {
		delete(a.taken, a.given[ip].share)
		delete(a.given, ip)
	}
}
