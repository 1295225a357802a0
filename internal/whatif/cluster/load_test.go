package cluster_test

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// TestLoadDoesNotAdmitAStoredPodAgain: an API server takes none of these pods as a new one.
func TestLoadDoesNotAdmitAStoredPodAgain(t *testing.T) {
	const anti = `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, matchLabelKeys: [hash],
      labelSelector: {matchExpressions: [{key: hash, operator: In, values: [h]}], matchLabels: {app: w}}}]}}`
	for name, spec := range map[string]string{
		"spread, whose matchLabelKeys are in its selector": `topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway,
      matchLabelKeys: [hash], labelSelector: {matchExpressions: [{key: hash, operator: In, values: [h]}], matchLabels: {app: w}}}]`,
		"anti-affinity, whose matchLabelKeys are in its selector": anti,
		"priority of before there was a default class":            "priority: 0",
		"priority of before its class had another value":          "priority: 7, priorityClassName: std",
	} {
		t.Run(name, func(t *testing.T) {
			s, _, err := snapshot.Read(strings.NewReader(`
priorityClasses: [{metadata: {name: std}, value: 500, globalDefault: true}]
pods:
- metadata: {name: p, namespace: default, labels: {app: w, hash: h}}
  spec: {containers: [{name: c, image: x}], ` + spec + "}\n"))
			testkit.Must(t, err)
			want := s.Pods[0].DeepCopy()
			c, err := cluster.New(time.Now)
			testkit.Must(t, err)
			testkit.Must(t, c.Load(s))
			got := cluster.Get[*v1.Pod](c, "default", "p")
			if want.Spec.Priority != nil && *got.Spec.Priority != *want.Spec.Priority {
				t.Errorf("its priority was %d and is %d", *want.Spec.Priority, *got.Spec.Priority)
			}
		})
	}
}
