package cluster_test

import (
	"fmt"
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

// TestLoadRefusesAWorkloadWhoseControllerWouldNotEnd: it would panic, or create pods on and on.
func TestLoadRefusesAWorkloadWhoseControllerWouldNotEnd(t *testing.T) {
	const spec, template = "selector: {matchLabels: {app: w}}, ", "template: {metadata: {labels: {app: %s}}, spec: {restartPolicy: %s, containers: [{name: c, image: c}]}}"
	stored := fmt.Sprintf(template, "w", "Always")
	others := fmt.Sprintf(template, "x", "Always")
	for name, tt := range map[string]struct{ file, want string }{
		"a negative number of replicas":                     {"replicaSets:\n- {metadata: {name: w}, spec: {replicas: -1, " + spec + stored + "}}", "replica set default/w: spec.replicas: Invalid value: -1"},
		"a Deployment whose selector selects other pods":    {"deployments:\n- {metadata: {name: w}, spec: {" + spec + others + "}}", "deployment default/w: spec.template.metadata.labels: Invalid value"},
		"a StatefulSet whose selector selects other pods":   {"statefulSets:\n- {metadata: {name: w}, spec: {serviceName: w, " + spec + others + "}}", "stateful set default/w: spec.template.metadata.labels: Invalid value"},
		"a Job whose selector selects other pods":           {"jobs:\n- {metadata: {name: w}, spec: {" + spec + fmt.Sprintf(template, "x", "Never") + "}}", "job default/w: spec.template.metadata.labels: Invalid value"},
		"a Job with a negative number of pods":              {"jobs:\n- {metadata: {name: w}, spec: {parallelism: -1, " + spec + fmt.Sprintf(template, "w", "Never") + "}}", "job default/w: spec.parallelism: Invalid value: -1"},
		"more pods than a cluster may have":                 {"deployments:\n- {metadata: {name: w}, spec: {replicas: 2147483647, " + spec + stored + "}}", "deployment default/w: it wants 2147483647 replicas: a cluster of Kubernetes has at most 150000 pods"},
		"more pods than a cluster may have, in two":         {"replicaSets:\n- {metadata: {name: v}, spec: {replicas: 100000, " + spec + stored + "}}\n- {metadata: {name: w}, spec: {replicas: 100000, " + spec + stored + "}}", "replica set default/w: it wants 100000 replicas"},
		"a Job with many pods at a time":                    {"jobs:\n- {metadata: {name: w}, spec: {parallelism: 2147483647, completions: 2147483647, " + spec + fmt.Sprintf(template, "w", "Never") + "}}", "job default/w: it wants 2147483647 replicas"},
		"a Job with many pods, few of which are needed":     {"jobs:\n- {metadata: {name: w}, spec: {parallelism: 2147483647, completions: 3, " + spec + fmt.Sprintf(template, "w", "Never") + "}}", ""},
		"a Job of which little is known":                    {"jobs:\n- {metadata: {name: w}, spec: {template: {spec: {containers: [{name: c}]}}}}", ""},
		"a Deployment without containers":                   {"deployments:\n- {metadata: {name: w}, spec: {" + spec + strings.Replace(stored, "containers:", "container:", 1) + "}}", "deployment default/w: spec.template.spec.containers: Required value"},
		"a Deployment that a newer API server would refuse": {"deployments:\n- {metadata: {name: w}, spec: {" + spec + strings.Replace(stored, "image: c", "image: c, ports: [{containerPort: 70000}]", 1) + "}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, err := snapshot.Read(strings.NewReader(tt.file))
			testkit.Must(t, err)
			c, err := cluster.New(time.Now)
			testkit.Must(t, err)
			err = c.Load(s)
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
