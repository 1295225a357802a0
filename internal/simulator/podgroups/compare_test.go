//go:build kubernetes_1_37 || kubernetes_1_38

package podgroups

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

const anyNode = `{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}`

// sideOf is the result of one side.
func sideOf(t *testing.T, objects *snapshot.Snapshot, scenario side.Scenario) *side.Result {
	t.Helper()
	o, done, err := simulator.WhatIf([]byte(anyNode), nil)
	testkit.Must(t, err)
	o.Cluster = objects
	one, err := side.New(t.Context(), side.Options{Options: o, Text: []byte(anyNode), Pods: side.Pending, Scenario: scenario})
	testkit.Must(t, err)
	defer one.Close()
	result, err := one.Run(t.Context())
	testkit.Must(t, errors.Join(err, done()))
	return result
}

func TestVictimsOfAGangAreReportedForOneOfItsPods(t *testing.T) {
	objects, group, pods := crowded()
	for i := range objects.Pods {
		objects.Pods[i].Spec.NodeName = fmt.Sprint("node-", i%2+1)
	}
	objects.PodGroups, objects.Pods = append(objects.PodGroups, group), append(objects.Pods, pods...)
	result := sideOf(t, objects, side.Scenario{})
	preempted := map[string]int{}
	for _, pod := range result.Pods {
		switch {
		case pod.State == engine.Preempted:
			preempted[pod.PreemptedBy]++
		case pod.Node == "":
			t.Errorf("%s is %s: %s", pod.Name, pod.State, pod.Message)
		}
	}
	if preempted["default/train-1"]+preempted["default/train-2"]+preempted["default/train-3"] != 2 || len(preempted) != 1 {
		t.Errorf("pods were preempted by %v", preempted)
	}
}

// A gang that waits is tried for ever, so that the scheduler never has nothing to do.
func TestSideComesToRestThoughAGangWaits(t *testing.T) {
	group, pods := gang(3, 3)
	few, fewer := gang(3, 2)
	few.Name = "few"
	for i := range fewer {
		fewer[i].Name = "few-" + fewer[i].Name
		*fewer[i].Spec.SchedulingGroup.PodGroupName = "few"
	}
	scenario, err := side.ReadScenario([]byte(`
steps:
- create: [{apiVersion: v1, kind: Node, metadata: {name: node-2}, status: {capacity: &room {cpu: "1", memory: 8Gi, pods: "10"}, allocatable: *room}}]
`))
	testkit.Must(t, err)
	for _, steps := range []int{0, 1} {
		group, pods, fewer := *group.DeepCopy(), append([]v1.Pod{}, pods...), append([]v1.Pod{}, fewer...)
		result := sideOf(t, &snapshot.Snapshot{
			Nodes: []v1.Node{nodeOf("node-1", "2")}, PodGroups: []schedulingv1beta1.PodGroup{group, few}, Pods: append(pods, fewer...),
		}, side.Scenario{Steps: scenario.Steps[:steps]})
		for _, pod := range result.Pods {
			switch {
			case strings.HasPrefix(pod.Name, "few-"):
				if pod.State != engine.NotAsked || !strings.Contains(pod.Message, "PodGroup few is not there, or has fewer pods than its minCount") {
					t.Errorf("after %d steps %s is %s: %s", steps, pod.Name, pod.State, pod.Message)
				}
			case (pod.Node != "") != (steps == 1), steps == 0 && !strings.Contains(pod.Message, "PodGroup default/train waits: 2 of 3 pods fit"):
				t.Errorf("after %d steps %s is %s on %q: %s", steps, pod.Name, pod.State, pod.Node, pod.Message)
			}
		}
	}
}

func TestManifestBringsItsPodGroup(t *testing.T) {
	for want, nodes := range map[int][]v1.Node{3: {nodeOf("node-1", "2")}, 0: {nodeOf("node-1", "2"), nodeOf("node-2", "2")}} {
		manifests, err := fit.Read([]string{"-"}, strings.NewReader(`
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train, namespace: default}
spec: {schedulingPolicy: {gang: {minCount: 3}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: train, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec: {schedulingGroup: {podGroupName: train}, containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}
`), fit.Namespace{})
		testkit.Must(t, err)
		config, err := kubescheduler.Read([]byte(anyNode))
		testkit.Must(t, err)
		f, err := fit.Fit(t.Context(), fit.Options{Options: engine.Options{Config: config, Cluster: &snapshot.Snapshot{Nodes: nodes}, Seed: 1}, Manifests: manifests})
		testkit.Must(t, err)
		if f.Pending != want || want > 0 && f.Workloads[0].Why["0/1 nodes are available: 1 Insufficient cpu.; PodGroup default/train waits: 2 of 3 pods fit"] != 1 {
			t.Errorf("on %d nodes: %s: %v", len(nodes), f.Verdict(), f.Workloads[0].Why)
		}
	}
}
