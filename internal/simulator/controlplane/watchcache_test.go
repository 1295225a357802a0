package controlplane

import (
	"regexp"
	"slices"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// cacheOf finds what kube-apiserver's metrics say of each watch cache.
var cacheOf = regexp.MustCompile(`(?m)^apiserver_watch_cache_resource_version\{.*resource="(.*?)"\}`)

// The other two are of the servers of CRDs and of APIServices.
func TestOnlyNodesAndPodsHaveAWatchCache(t *testing.T) {
	metrics, err := clientOf(t, sharedCluster.AdminConfig()).Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	testkit.Must(t, err)
	var has []string
	for _, found := range cacheOf.FindAllSubmatch(metrics, -1) {
		has = append(has, string(found[1]))
	}
	slices.Sort(has)
	want := []string{"apiservices", "customresourcedefinitions", "nodes", "pods"}
	if !slices.Equal(has, want) {
		t.Errorf("kinds with a watch cache: %q, want %q", has, want)
	}
}
