package kubelets

import (
	"fmt"
	"net/netip"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

var four = netip.MustParsePrefix("10.9.0.0/30")

func TestEveryAddressIsGivenOnceUntilItsPodIsGone(t *testing.T) {
	pods, a := noPods()
	put(t, pods, "brings its own", "10.9.0.1")
	var given []string
	for _, name := range []string{"0", "1", "2"} {
		pod := put(t, pods, name, "")
		given = append(given, taken(t, a, pod))
		testkit.Equal(t, taken(t, a, pod), given[len(given)-1], "the address of a pod that does not say what it has")
	}
	want := []string{"10.9.0.2", "10.9.0.3", "10.9.0.0"}
	testkit.Equal(t, given, want, "the addresses")
	fifth := put(t, pods, "4", "")
	_, err := a.take(four, fifth)
	testkit.ErrorHas(t, err, "10.9.0.0/30")
	drop(t, pods, "2")
	again := taken(t, a, put(t, pods, "2", "")) // before it has said what it has
	testkit.Equal(t, again, given[2], "the address of its former self")
	for i, ip := range given { // they say what they have
		put(t, pods, fmt.Sprint(i), ip)
	}
	if ip, err := a.take(four, fifth); err == nil {
		t.Errorf("a fifth of four: %q", ip)
	}
	drop(t, pods, "1")
	testkit.Equal(t, taken(t, a, fifth), given[1], "the address of the pod that is gone")
	for in, want := range map[string]string{"10.8.0.0/16": "10.8.0.1", "10.8.1.7/24": "10.8.1.1", "fd00::/64": "fd00::1"} {
		ip, err := a.take(netip.MustParsePrefix(in), put(t, pods, want, ""))
		testkit.Must(t, err)
		testkit.Equal(t, ip, want, "the first address of %s", in)
	}
}

func noPods() (cache.Indexer, *addresses) {
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, podIndexers)
	return pods, newAddresses(pods)
}

func taken(t *testing.T, a *addresses, pod *v1.Pod) string {
	t.Helper()
	ip, err := a.take(four, pod)
	testkit.Must(t, err)
	return ip
}

// put adds or changes a pod.
func put(t *testing.T, pods cache.Indexer, name, ip string) *v1.Pod {
	t.Helper()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: uuid.NewUUID()}, Status: v1.PodStatus{PodIP: ip}}
	old, exists, _ := pods.Get(pod)
	if exists {
		pod.UID = old.(*v1.Pod).UID
	}
	testkit.Must(t, pods.Update(pod))
	return pod
}

func drop(t *testing.T, pods cache.Indexer, name string) {
	t.Helper()
	testkit.Must(t, pods.Delete(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}))
}
