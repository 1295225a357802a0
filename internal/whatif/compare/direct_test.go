package compare

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	quota "k8s.io/apiserver/pkg/quota/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Spread constraints count over zones: a pod that has no regex, and on whose two nodes
// nothing else differs, moves because of one that has.
func TestKnockOnEffectsAreSeparateFromDirectDifferences(t *testing.T) {
	s := clusterOf(200, 600)
	regexes := map[string]bool{}
	for i := range s.Pods {
		app := map[string]string{"app": fmt.Sprint("app-", i%10)}
		s.Pods[i].Labels = app
		s.Pods[i].Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: app},
		}}
		if i%20 == 0 {
			s.Pods[i] = withRegex(s.Pods[i], "^node-0[0-3]")
			regexes[s.Pods[i].Name] = true
		}
	}
	r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "v2")}, Cluster: s, Pods: side.All})
	direct, follow := 0, 0
	for i, d := range r.Differences {
		switch {
		case d.Follows:
			follow++
		case !regexes[d.Name]:
			t.Errorf("%s is direct, and has no regex: %s: %s", d.key(), d.Plugin, d.Reason)
		default:
			direct++
		}
		if i > 0 && r.Differences[i-1].Follows && !d.Follows {
			t.Errorf("%s is direct, and comes after what follows", d.key())
		}
	}
	if direct == 0 || follow == 0 {
		t.Errorf("%d are direct, %d follow", direct, follow)
	}
}

func TestLoadBeforeIsTheFiles(t *testing.T) {
	for _, mode := range side.Modes {
		s := clusterOf(2, 3)
		s.Pods[0], s.Pods[1] = on(s.Pods[0], "node-000"), on(s.Pods[1], "node-000")
		s.Pods[1].Status.Phase = v1.PodSucceeded
		r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "none")}, Cluster: s, Pods: mode})
		before := r.Load.Before.Requested
		if !quota.Equals(before, amounts("cpu", "100m", "pods", "1", movablePods, "1")) || !quota.Equals(r.Load.Nodes[0].Before, before) {
			t.Errorf("--pods %s: before, %+v were requested, of the first node %+v", mode, before, r.Load.Nodes[0].Before)
		}
	}
}
