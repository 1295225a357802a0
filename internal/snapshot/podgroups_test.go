//go:build !kubernetes_1_37

package snapshot

import (
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
)

func TestPodGroupsNeedALaterKubernetes(t *testing.T) {
	const file = `
podGroups:
- {metadata: {name: train, namespace: default}, spec: {schedulingPolicy: {gang: {minCount: 3}}}}
pods:
- {metadata: {name: a, namespace: default}, spec: &of {schedulingGroup: {podGroupName: train}, containers: [{name: c}]}}
- {metadata: {name: b, namespace: default}, spec: *of}
- {metadata: {name: c, namespace: default}, spec: *of}
- {metadata: {name: alone, namespace: default}, spec: {containers: [{name: c}]}}
`
	s, notices, err := Read(strings.NewReader(file))
	if err != nil || len(s.Pods) != 4 {
		t.Fatalf("got %v, %v", s, err)
	}
	var lines []string
	for _, notice := range notices {
		lines = append(lines, notice.String())
	}
	want := "3 pods of PodGroup default/train are scheduled one by one: that needs Kubernetes 1.37"
	if minor.PodGroupOf(&s.Pods[0]) == "" { // nothing is known of it
		want = "pod default/a and 2 more: spec.schedulingGroup: skipped: the Kubernetes of this simulator has no such field"
	}
	_, notices, err = Read(strings.NewReader("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: train, namespace: default}"))
	const ofManifest = "PodGroup default/train: skipped: that needs Kubernetes 1.37"
	if err != nil || len(notices) != 1 || notices[0].String() != ofManifest {
		t.Errorf("a manifest is read with %v, %v, want %s", notices, err, ofManifest)
	}
	for _, line := range []string{want, "field podGroups: skipped: that needs Kubernetes 1.37"} {
		if !slices.Contains(lines, line) {
			t.Errorf("it is not said that %s: %q", line, lines)
		}
	}
}
