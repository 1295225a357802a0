package compare

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// TestRejectedPodsAreAResult: a LimitRange admits 150 pods no more, and neither one that a scenario creates.
func TestRejectedPodsAreAResult(t *testing.T) {
	s := clusterOf(2, 0)
	s.Pods = []v1.Pod{podOf("small", "5m")}
	for i := range 150 {
		s.Pods = append(s.Pods, on(podOf(fmt.Sprintf("large-%03d", i), "10m"), "node-000"))
	}
	s.LimitRanges = []v1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Name: "l", Namespace: "default"}, Spec: v1.LimitRangeSpec{Limits: []v1.LimitRangeItem{{
		Type: v1.LimitTypeContainer, Max: amounts("cpu", "5m"),
	}}}}}
	scenario, err := side.ReadScenario([]byte(`steps: [{create: [{apiVersion: v1, kind: Pod, metadata: {name: late, namespace: default}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 20m}, limits: {cpu: 20m}}}]}}]}]`))
	testkit.Must(t, err)
	r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "none")}, Cluster: s, Scenario: *scenario, Pods: side.All})
	if len(r.Rejected) != 151 {
		t.Errorf("%d are rejected", len(r.Rejected))
	}
	rows := r.rejected().Rows
	if len(rows) != 3 || rows[1][0] != "pod default/large-000 and 149 more" || !strings.HasPrefix(rows[2][0], "pod default/late") {
		t.Errorf("the rows are %q", rows)
	}
}
