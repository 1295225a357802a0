//go:build kubernetes_1_37

package wasmhost

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Since Kubernetes 1.37, where the node of the last pod has room for the next one of its batch,
// it is scored again (KEP-5598): PreScore about the nodes of the list, Score of the one node.
func TestNodeIsScoredAgainForTheNextPodOfABatch(t *testing.T) {
	var pods []*v1.Pod
	for _, name := range []string{"a", "b", "c", "d"} {
		p := pod(name)
		p.Annotations = map[string]string{regex.PreferAnnotation: "n2"}
		pods = append(pods, p)
	}
	of := batch{guest: "../static/regex_v2.wasm", room: "3", nodes: []string{"n3", "n1", "n2"}, pods: pods}
	rescored := metrics.BatchRescoreAttempts.WithLabelValues(t.Name())
	of.placeUntil(t, "nodes are scored again, and the hints are used", func(nodes []string) {
		want := []string{"n2", "n2", "n2"}
		if !slices.Equal(nodes[:len(want)], want) { // where the last pod is, is open
			t.Errorf("got %v, want %v", nodes, want)
		}
	}, func(used, _ int) bool {
		n, err := testutil.GetCounterMetricValue(rescored)
		return err == nil && n > 0 && used > 0
	})
}
