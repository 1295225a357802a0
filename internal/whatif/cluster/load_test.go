package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

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
		"a negative number of replicas":                       {"replicaSets:\n- {metadata: {name: w}, spec: {replicas: -1, " + spec + stored + "}}", "replica set default/w: spec.replicas: Invalid value: -1"},
		"a Deployment whose selector selects other pods":      {"deployments:\n- {metadata: {name: w}, spec: {" + spec + others + "}}", "deployment default/w: spec.template.metadata.labels: Invalid value"},
		"a StatefulSet whose selector selects other pods":     {"statefulSets:\n- {metadata: {name: w}, spec: {serviceName: w, " + spec + others + "}}", "stateful set default/w: spec.template.metadata.labels: Invalid value"},
		"a Job whose selector selects other pods":             {"jobs:\n- {metadata: {name: w}, spec: {" + spec + fmt.Sprintf(template, "x", "Never") + "}}", "job default/w: spec.template.metadata.labels: Invalid value"},
		"a Job with a negative number of pods":                {"jobs:\n- {metadata: {name: w}, spec: {parallelism: -1, " + spec + fmt.Sprintf(template, "w", "Never") + "}}", "job default/w: spec.parallelism: Invalid value: -1"},
		"more pods than a cluster may have":                   {"deployments:\n- {metadata: {name: w}, spec: {replicas: 2147483647, " + spec + stored + "}}", "deployment default/w: it wants 2147483647 replicas: a cluster of Kubernetes has at most 150000 pods"},
		"more pods than a cluster may have, in two":           {"replicaSets:\n- {metadata: {name: v}, spec: {replicas: 100000, " + spec + stored + "}}\n- {metadata: {name: w}, spec: {replicas: 100000, " + spec + stored + "}}", "replica set default/w: it wants 100000 replicas"},
		"a Job with many pods at a time":                      {"jobs:\n- {metadata: {name: w}, spec: {parallelism: 2147483647, completions: 2147483647, " + spec + fmt.Sprintf(template, "w", "Never") + "}}", "job default/w: it wants 2147483647 replicas"},
		"a Job with many pods, few of which are needed":       {"jobs:\n- {metadata: {name: w}, spec: {parallelism: 2147483647, completions: 3, " + spec + fmt.Sprintf(template, "w", "Never") + "}}", ""},
		"a Job of which little is known":                      {"jobs:\n- {metadata: {name: w}, spec: {template: {spec: {containers: [{name: c}]}}}}", ""},
		"a ReplicationController without selector and labels": {"replicationControllers:\n- {metadata: {name: w}, spec: {template: {spec: {containers: [{name: c, image: c}]}}}}", "replication controller default/w: spec.selector: Required value"},
		"a Job without the selector that it wants":            {"jobs:\n- {metadata: {name: w}, spec: {manualSelector: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}", "job default/w: spec.selector: Required value"},
		"a Deployment without containers":                     {"deployments:\n- {metadata: {name: w}, spec: {" + spec + strings.Replace(stored, "containers:", "container:", 1) + "}}", "deployment default/w: spec.template.spec.containers: Required value"},
		"a Deployment that a newer API server would refuse":   {"deployments:\n- {metadata: {name: w}, spec: {" + spec + strings.Replace(stored, "image: c", "image: c, ports: [{containerPort: 70000}]", 1) + "}}", ""},
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

// TestLoadGivesAJobItsSelector: an API server has the controller of a Job find its pods by its UID. Its status and its pods stay.
func TestLoadGivesAJobItsSelector(t *testing.T) {
	s, _, err := snapshot.Read(strings.NewReader(`
nodes: [{metadata: {name: n1}}]
jobs:
- {metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}, status: {active: 1}}
- {metadata: {name: k}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}
pods:
- metadata: {name: j-1, labels: {app: j}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, controller: true}]}
  spec: {nodeName: n1, priority: 0, restartPolicy: Never, containers: [{name: c, image: c}]}
`))
	testkit.Must(t, err)
	c, err := cluster.New(time.Now)
	testkit.Must(t, err)
	testkit.Must(t, c.Load(s))
	job, other, pod := cluster.Get[*batchv1.Job](c, "default", "j"), cluster.Get[*batchv1.Job](c, "default", "k"), cluster.Get[*v1.Pod](c, "default", "j-1")
	if job.Spec.Selector == nil || other.Spec.Selector == nil {
		t.Fatalf("a Job has no selector: %+v, %+v", job.Spec, other.Spec)
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	testkit.Must(t, err)
	if !selector.Matches(labels.Set(job.Spec.Template.Labels)) || selector.Matches(labels.Set(other.Spec.Template.Labels)) {
		t.Errorf("%s is to match the labels %v and not %v", selector, job.Spec.Template.Labels, other.Spec.Template.Labels)
	}
	if !selector.Matches(labels.Set(pod.Labels)) || pod.Labels["app"] != "j" || !metav1.IsControlledBy(pod, job) {
		t.Errorf("%s is to match the labels of its pod: %v, %v", selector, pod.Labels, pod.OwnerReferences)
	}
	if job.Status.Active != 1 {
		t.Errorf("its status is %+v", job.Status)
	}
}
