//go:build !kubernetes_1_37 && !kubernetes_1_38

package snapshot

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestPodGroupsNeedALaterKubernetes(t *testing.T) {
	s, notices := noticed(t, `
podGroups:
- {metadata: {name: train, namespace: default}, spec: {schedulingPolicy: {gang: {minCount: 3}}}}
pods:
- {metadata: {name: a, namespace: default}, spec: &of {schedulingGroup: {podGroupName: train}, containers: [{name: c}]}}
- {metadata: {name: b, namespace: default}, spec: *of}
- {metadata: {name: c, namespace: default}, spec: *of}
- {metadata: {name: alone, namespace: default}, spec: {containers: [{name: c}]}}
`)
	want := "3 pods of PodGroup default/train are scheduled one by one: that needs Kubernetes 1.37"
	if minor.PodGroupOf(&s.Pods[0]) == "" { // nothing is known of it
		want = "pod default/a and 2 more: spec.schedulingGroup: skipped: the Kubernetes of this simulator has no such field"
	}
	testkit.Has(t, notices, want, "field podGroups: skipped: that needs Kubernetes 1.37")
	_, notices = noticed(t, "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: train, namespace: default}")
	if notices != "PodGroup default/train: skipped: that needs Kubernetes 1.37" {
		t.Error(notices)
	}
}
