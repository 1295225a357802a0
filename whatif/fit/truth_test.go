package fit

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/whatif/engine"
)

// TestWhatACopyWithoutStatusesPredictedWrongly: a live cluster comes to these verdicts.
func TestWhatACopyWithoutStatusesPredictedWrongly(t *testing.T) {
	node := func(cpu string) string {
		return "nodes:\n- metadata: {name: node}\n  status: {allocatable: &room {cpu: \"" + cpu + "\", memory: 8Gi, pods: \"10\"}, capacity: *room}\n"
	}
	runs := func(asks, status string) string {
		return `pods:
- metadata: {name: runs, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: web, controller: true}]}
  spec: {nodeName: node, priority: 0, containers: [{name: c, image: c, resources: {requests: {cpu: "` + asks + `"}}}]}
  status: {phase: Running, conditions: [{type: Ready, status: "True"}` + status + `}
`
	}
	const set = `replicaSets:
- metadata: {name: web, namespace: default, uid: web}
  spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "3"}}}]}}}
priorityClasses:
- {metadata: {name: high}, value: 1000}
`
	three := manifest("Pod", "new", strings.Replace("containers: [{name: c, image: c}]", "image: c}", "image: c, resources: {requests: {cpu: \"3\"}}}", 1))
	for name, tt := range map[string]struct{ cluster, manifest, verdict string }{
		"a resize from 4 to 1 is under way": {
			node("4") + runs("1", `], containerStatuses: [{name: c, ready: true, resources: {requests: {cpu: "4"}}, allocatedResources: {cpu: "4"}}]`), three, "1 pod would wait",
		},
		"a resize from 4 to 1 is done": {
			node("4") + runs("1", `], containerStatuses: [{name: c, ready: true, resources: {requests: {cpu: "1"}}, allocatedResources: {cpu: "1"}}]`), three, "1 pod would fit",
		},
		"a resize from 1 to 8 is infeasible": {
			node("4") + runs("8", `, {type: PodResizePending, status: "True", reason: Infeasible}], containerStatuses: [{name: c, ready: true, resources: {requests: {cpu: "1"}}, allocatedResources: {cpu: "1"}}]`),
			three, "1 pod would fit",
		},
		"who is preempted was resized, and its template asks for more": {
			node("4") + set + runs("1", `]`), manifest("Pod", "new", `priorityClassName: high, containers: [{name: c, image: c, resources: {requests: {cpu: "4"}}}]`),
			"1 pod would wait, and 1 pod would be preempted",
		},
		"a pod of a scheduler that nobody tries": {
			node("4") + strings.Replace(runs("1", "]"), "nodeName: node,", "schedulerName: other,", 1), three, "1 pod would fit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Read([]string{"-"}, strings.NewReader(tt.manifest))
			if err != nil {
				t.Fatal(err)
			}
			s, _, err := snapshot.Read(strings.NewReader(tt.cluster))
			if err != nil {
				t.Fatal(err)
			}
			config, err := scheduler.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"))
			if err != nil {
				t.Fatal(err)
			}
			f, err := Fit(t.Context(), Options{Options: engine.Options{Config: config, Cluster: s, Seed: 1}, Manifests: m})
			if err != nil {
				t.Fatal(err)
			}
			if f.Verdict() != tt.verdict {
				t.Errorf("%s: %+v %v", f.Verdict(), f.PushedOut, f.Workloads[0].Why)
			}
		})
	}
}
