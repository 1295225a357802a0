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
// it is scored again: PreScore about the nodes of the list, Score of the one node,
// NormalizeScore of all (KEP-5598).
func TestANodeIsScoredAgainForTheNextPodOfABatch(t *testing.T) {
	prefers := func(names ...string) (pods []*v1.Pod) {
		for _, name := range names {
			p := pod(name)
			p.Annotations = map[string]string{regex.PreferAnnotation: "n2"}
			pods = append(pods, p)
		}
		return pods
	}
	for name, tt := range map[string]struct {
		batch
		want []string // of the first pods: where the others are is open
	}{
		"a guest with NormalizeScore": {
			batch{guest: guests + "decides_by_rank.wasm", room: "2", nodes: []string{"n3", "n1", "n2"}, pods: prefers("a", "b", "c", "d", "e", "f")},
			[]string{"n1", "n1", "n2", "n2", "n3", "n3"},
		},
		"v2": {
			batch{guest: "../static/regex_v2.wasm", room: "3", nodes: []string{"n3", "n1", "n2"}, pods: prefers("a", "b", "c", "d")},
			[]string{"n2", "n2", "n2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rescored := metrics.BatchRescoreAttempts.WithLabelValues(t.Name())
			tt.placeUntil(t, "nodes are scored again, and the hints are used", func(nodes []string) {
				if !slices.Equal(nodes[:len(tt.want)], tt.want) {
					t.Errorf("got %v, want %v", nodes, tt.want)
				}
			}, func(used, _ int) bool {
				n, err := testutil.GetCounterMetricValue(rescored)
				return err == nil && n > 0 && used > 0
			})
		})
	}
}
