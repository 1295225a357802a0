package fit

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// apart keeps the pods of app a on nodes of their own.
const apart = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a}}}]}}, "

// onNodes is a cluster of two nodes in which a workload already runs as its controller made it: rolledOut applies it first.
const onNodes = `
nodes:
- metadata: {name: node-1, labels: {kubernetes.io/hostname: node-1}}
  status: {allocatable: &room {cpu: "4", memory: 8Gi, pods: "10"}, capacity: *room}
- metadata: {name: node-2, labels: {kubernetes.io/hostname: node-2}}
  status: {allocatable: *room, capacity: *room}
`

// rolledOut rolls a manifest out over the objects of a cluster.
func rolledOut(t *testing.T, there, manifests string) *Fitting {
	t.Helper()
	o := optionsFor(t, manifests)
	s, _, err := snapshot.Read(strings.NewReader(onNodes + there))
	if err != nil {
		t.Fatal(err)
	}
	s.Source = nil // it is all of the cluster
	o.Cluster = s
	f, err := Rollout(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// text is a report as a person reads it, without how long it took.
func text(t *testing.T, f *Fitting, format string) string {
	t.Helper()
	f.Took = 0
	var out bytes.Buffer
	if err := report.Write(&out, format, f, f.Report(false)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// deployed is a Deployment of so many pods of CPUs each, with its ReplicaSet and a pod on each of some nodes.
func deployed(spec, pod string, nodes ...string) string {
	template := "template: {metadata: {labels: {app: a%s}}, spec: {" + pod + "}}"
	text := fmt.Sprintf(`deployments:
- metadata: {name: web, namespace: default, uid: d, generation: 1}
  spec: {%s, replicas: %d, selector: {matchLabels: {app: a}}, %s}
replicaSets:
- metadata: {name: web-old, namespace: default, uid: r, labels: {app: a, pod-template-hash: old}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
  spec: {replicas: %[2]d, selector: {matchLabels: {app: a, pod-template-hash: old}}, %[4]s}
pods:
`, spec, len(nodes), fmt.Sprintf(template, ""), fmt.Sprintf(template, ", pod-template-hash: old"))
	for i, node := range nodes {
		text += owned("ReplicaSet", "web-old", "r", fmt.Sprint("web-old-", i), "pod-template-hash: old", node, pod)
	}
	return text
}

func owned(kind, owner, uid, name, label, node, spec string) string {
	return fmt.Sprintf(`- metadata: {name: %s, namespace: default, labels: {app: a, %s}, ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: %s, controller: true}]}
  spec: {nodeName: %s, %s}
`, name, label, kind, owner, uid, node, spec)
}

// setOf is a StatefulSet or a DaemonSet with a pod on each of two nodes.
func setOf(kind, spec, pod string) string {
	list, label := "statefulSets", "controller-revision-hash: set-old"
	if kind == "DaemonSet" {
		list, label = "daemonSets", "controller-revision-hash: old"
	}
	return fmt.Sprintf(`%s:
- metadata: {name: set, namespace: default, uid: s, generation: 1}
  spec: {%s, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {%s}}}
pods:
`, list, spec, pod) + owned(kind, "set", "s", "set-0", label, "node-1", pod) + owned(kind, "set", "s", "set-1", label, "node-2", pod)
}

func pod(image, cpu, more string) string {
	return fmt.Sprintf("%scontainers: [{name: c, image: %s, resources: {requests: {cpu: %q}}}]", more, image, cpu)
}

func changed(kind, name, spec, pod string) string {
	return manifest(kind, name, spec+", selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {"+pod+"}}")
}

func TestRolloutEndsOrNamesThePodTheReasonAndTheRemedy(t *testing.T) {
	const rolling = "strategy: {rollingUpdate: {maxSurge: %s, maxUnavailable: %s}}"
	one, none := fmt.Sprintf(rolling, "1", "0"), fmt.Sprintf(rolling, "25%", "25%")
	disk := `pvcs:
- metadata: {name: data, namespace: default, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
  status: {phase: Bound}
  spec: {accessModes: [ReadWriteOnce], volumeName: disk, storageClassName: "", resources: {requests: {storage: 1Gi}}}
pvs:
- metadata: {name: disk}
  spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], claimRef: {namespace: default, name: data}, csi: {driver: disks.example.com, volumeHandle: disk}}
`
	const onDisk = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], "
	const quota = "resourceQuotas:\n- {metadata: {name: few, namespace: default}, spec: {hard: {pods: \"2\"}}, status: {hard: {pods: \"2\"}, used: {pods: \"2\"}}}\n"
	for name, tt := range map[string]struct {
		there, manifest string
		want            []string
		ends            bool
	}{
		"there is room": {
			deployed(one, pod("a:1", "1", ""), "node-1", "node-2"), changed("Deployment", "web", "replicas: 2, "+one, pod("a:2", "1", "")),
			[]string{"The rollout of 1 workload would end.", "Deployment default/web: 2 of 2 fit (replacing 2 running)", "+0s    Deployment default/web   2 pods created, 2 scheduled, 2 deleted"},
			true,
		},
		"hard anti-affinity, and a share of two pods is none": {
			deployed(none, pod("a:1", "1", apart), "node-1", "node-2"), changed("Deployment", "web", "replicas: 2, "+none, pod("a:2", "1", apart)),
			[]string{
				"The rollout of Deployment default/web would not end.", "  1 pod would stay pending: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules", "its Deployment does not create it before others of the rollout are ready",
				"  The rollout does not end: 2 pods of the old revision left; it would end with maxUnavailable: 1, or with type: Recreate, or with one more node like node-1",
			},
			false,
		},
		"full nodes": {
			deployed(one, pod("a:1", "3", ""), "node-1", "node-2"), changed("Deployment", "web", "replicas: 2, "+one, pod("a:2", "3", "")),
			[]string{"1 pod would stay pending: 0/2 nodes are available: 2 Insufficient cpu", "it would end with maxUnavailable: 1, or with type: Recreate, or with one more node like node-1"},
			false,
		},
		"pods that no node is large enough for": {
			deployed(one, pod("a:1", "1", ""), "node-1", "node-2"), changed("Deployment", "web", "replicas: 2, "+one, pod("a:2", "5", "")),
			[]string{"2 pods of the old revision left; no field of its update strategy and no further node would let it end"},
			false,
		},
		"a disk that another node has": {
			disk + deployed(one, pod("a:1", "3", onDisk), "node-1"), changed("Deployment", "web", "replicas: 1, "+one, pod("a:2", "3", onDisk)),
			[]string{"Deployment default/web: 0 of 1 fit", "Multi-Attach error for its claim data: it is ReadWriteOnce, and attached to node node-1 for pod web-old-0", "it would end with maxUnavailable: 1, or with type: Recreate"},
			false,
		},
		"a quota without room for one more": {
			quota + deployed(one, pod("a:1", "1", ""), "node-1", "node-2"), changed("Deployment", "web", "replicas: 2, "+one, pod("a:2", "1", "")),
			[]string{"(2 of the old revision left running)", "2 pods would not be created: the API server rejects it: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2", "it would end with maxUnavailable: 1"},
			false,
		},
		"new pods that a quota rejects": {
			"resourceQuotas:\n- {metadata: {name: few, namespace: default}, spec: {hard: {pods: \"1\"}}}\n", changed("Deployment", "web", "replicas: 2, "+one, pod("a:1", "1", "")),
			[]string{"1 pod would not be created: the API server rejects it: exceeded quota", "The rollout does not end: the API server rejects pods, which neither its update strategy nor a further node changes\n"},
			false,
		},
		"a template that is not admitted": {
			deployed(one, pod("a:1", "1", ""), "node-1"), changed("Deployment", "web", "replicas: 1, "+one, pod("a:2", "1", "restartPolicy: Never, ")),
			[]string{
				"The rollout of Deployment default/web would not end, and 1 object would be rejected.", "Deployment default/web: 1 of 1 fit (1 running, unchanged)",
				"  It stays as it is in the cluster: the API server rejects it: spec.template.spec.restartPolicy: Unsupported value: \"Never\"", "  The rollout does not end: the API server rejects the change",
			},
			false,
		},
		"longer than an hour": {
			deployed(one, pod("a:1", "1", ""), "node-1", "node-2"), changed("Deployment", "web", "minReadySeconds: 2400, progressDeadlineSeconds: 5000, replicas: 2, "+one, pod("a:2", "1", "")),
			[]string{"The rollout of 1 workload would end.", "+1h20m"},
			true,
		},
		"a StatefulSet": {
			setOf("StatefulSet", "serviceName: set, replicas: 2", pod("a:1", "1", "")), changed("StatefulSet", "set", "serviceName: set, replicas: 2", pod("a:2", "1", "")),
			[]string{"The rollout of 1 workload would end."},
			true,
		},
		"a StatefulSet whose last pod grows too large": {
			setOf("StatefulSet", "serviceName: set, replicas: 2", pod("a:1", "3", "")), changed("StatefulSet", "set", "serviceName: set, replicas: 2", pod("a:2", "5", "")),
			[]string{"1 pod would stay pending: 0/2 nodes are available: 2 Insufficient cpu", "1 pod of the old revision left; no field"},
			false,
		},
		"a StatefulSet up to its partition": {
			setOf("StatefulSet", "serviceName: set, replicas: 2", pod("a:1", "1", "")), changed("StatefulSet", "set", "serviceName: set, replicas: 2, updateStrategy: {rollingUpdate: {partition: 1}}", pod("a:2", "1", "")),
			[]string{"The rollout of 1 workload would end."},
			true,
		},
		"a StatefulSet whose pods somebody has to delete": {
			setOf("StatefulSet", "serviceName: set, replicas: 2, updateStrategy: {type: OnDelete}", pod("a:1", "1", "")), changed("StatefulSet", "set", "serviceName: set, replicas: 2, updateStrategy: {type: OnDelete}", pod("a:2", "1", "")),
			[]string{"2 pods of the old revision left; it would end with type: RollingUpdate"},
			false,
		},
		"a DaemonSet": {
			setOf("DaemonSet", "updateStrategy: {type: RollingUpdate}", pod("a:1", "1", "")), changed("DaemonSet", "set", "updateStrategy: {type: RollingUpdate}", pod("a:2", "1", "")),
			[]string{"The rollout of 1 workload would end."},
			true,
		},
		"a DaemonSet whose pods somebody has to delete": {
			setOf("DaemonSet", "updateStrategy: {type: OnDelete}", pod("a:1", "1", "")), changed("DaemonSet", "set", "updateStrategy: {type: OnDelete}", pod("a:2", "1", "")),
			[]string{"2 pods of the old revision left; it would end with type: RollingUpdate"},
			false,
		},
		"a DaemonSet that selects no node": {
			"", changed("DaemonSet", "set", "updateStrategy: {type: RollingUpdate}", pod("a:1", "1", "nodeSelector: {a: b}, ")),
			[]string{"The rollout of 1 workload would end.", "DaemonSet default/set: 0 of 0 fit"},
			true,
		},
		"a paused Deployment scales, with its old template": {
			deployed(one, pod("a:1", "3", ""), "node-1"), changed("Deployment", "web", "paused: true, replicas: 3, "+one, pod("a:2", "1", "")),
			[]string{"Deployment default/web: 2 of 3 fit (1 running, unchanged)", "  1 pod would stay pending: 0/2 nodes are available: 2 Insufficient cpu", "  Its Deployment is paused"},
			false,
		},
		"a new paused Deployment": {
			"", changed("Deployment", "web", "paused: true, replicas: 3", pod("a:1", "1", "")),
			[]string{"Deployment default/web: 0 of 0 fit", "  Its Deployment is paused: it scales, and its template has no effect"},
			true,
		},
		"a DaemonSet whose nodes have no room for a second pod": {
			setOf("DaemonSet", "updateStrategy: {type: RollingUpdate}", pod("a:1", "3", "")), changed("DaemonSet", "set", "updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}", pod("a:2", "3", "")),
			[]string{"2 pods of the old revision left; it would end with maxSurge: 0 and maxUnavailable: 1"},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := rolledOut(t, tt.there, tt.manifest)
			is := text(t, f, "table")
			for _, want := range tt.want {
				if !strings.Contains(is, want) {
					t.Errorf("it lacks %q", want)
				}
			}
			if f.Fits() != tt.ends {
				t.Errorf("it ends: %v", f.Fits())
			}
			if t.Failed() {
				t.Log(is)
			}
		})
	}
}

// TestAPendingPodTakesTheRoomThatARolloutMakes: it has waited longer than the scheduler's backoff.
func TestAPendingPodTakesTheRoomThatARolloutMakes(t *testing.T) {
	const inPlace = "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"
	there := deployed(inPlace, pod("a:1", "3", ""), "node-1", "node-2") + owned("ReplicaSet", "other", "other", "waits", "of: other", "", pod("a:1", "3", ""))
	f := rolledOut(t, there, changed("Deployment", "web", inPlace+", replicas: 2", pod("a:2", "3", "")))
	has(t, f, "The rollout of Deployment default/web would not end.", "Deployment default/web: 0 of 2 fit")
	// It is tried in vain when the first pod ends, and does not fit there.
	last := deployed(inPlace, pod("a:1", "3", ""), "node-1", "node-2") + owned("ReplicaSet", "other", "other", "waits", "of: other", "", pod("a:1", "3", "nodeSelector: {kubernetes.io/hostname: NODE}, "))
	for _, node := range []string{"node-1", "node-2"} {
		f := rolledOut(t, strings.Replace(last, "NODE", node, 1), changed("Deployment", "web", inPlace+", replicas: 2", pod("a:2", "3", "")))
		has(t, f, "The rollout of Deployment default/web would not end.")
	}
}

// TestASuspendedJobThatRunsMakesRoom: its controller deletes its pods.
func TestASuspendedJobThatRunsMakesRoom(t *testing.T) {
	const labels = "controller-uid: j, job-name: train, batch.kubernetes.io/controller-uid: j, batch.kubernetes.io/job-name: train"
	template := pod("a:1", "3", "restartPolicy: Never, ")
	there := "jobs:\n- {metadata: {name: train, namespace: default, uid: j}, spec: {parallelism: 2, completions: 2, selector: {matchLabels: {batch.kubernetes.io/controller-uid: j}}, template: {metadata: {labels: {" +
		labels + "}}, spec: {" + template + "}}}}\npods:\n"
	for i := 1; i <= 2; i++ {
		there += owned("Job", "train", "j", fmt.Sprint("train-", i), labels, fmt.Sprint("node-", i), template)
	}
	suspended := "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default}, spec: {parallelism: 2, completions: 2, suspend: true, template: {spec: {" + template + "}}}}"
	f := rolledOut(t, there, suspended+"\n---\n"+manifest("Pod", "next", pod("a:1", "3", "")))
	has(t, f, "The rollout of 1 workload would end.", "Pod default/next: 1 of 1 fit")
}

// TestAShortProgressDeadlineDoesNotStopItsController: the controller compares it with the time of the machine, so that by the engine's
// clock it would look again and again.
func TestAShortProgressDeadlineDoesNotStopItsController(t *testing.T) {
	f, err := fitted(t, false, manifest("Deployment", "new", "replicas: 3, progressDeadlineSeconds: 30, "+asks("2", "")))
	testkit.Must(t, err)
	if f.Pending != 1 || len(f.Basis.Stopped) > 0 {
		t.Errorf("%d pods are pending; stopped: %q", f.Pending, f.Basis.Stopped)
	}
}

// TestAPodThatRunsIsChangedInPlace as far as an API server allows it.
func TestAPodThatRunsIsChangedInPlace(t *testing.T) {
	const there = "pods:\n- metadata: {name: one, namespace: default}\n  spec: {nodeName: node-1, containers: [{name: c, image: a:1, resources: {requests: {cpu: 1}}}]}\n"
	const fits = "Pod default/one: 1 of 1 fit "
	for name, tt := range map[string]struct {
		pod  string
		want []string
		ends bool
	}{
		"the same":       {pod("a:1", "1", ""), []string{"The rollout of 1 workload would end.", fits + "(1 running, unchanged)"}, true},
		"another image":  {pod("a:2", "1", ""), []string{"The rollout of 1 workload would end.", fits + "(1 running, changed in place)"}, true},
		"a toleration":   {pod("a:1", "1", "tolerations: [{key: a, operator: Exists}], "), []string{fits + "(1 running, changed in place)"}, true},
		"a deadline":     {pod("a:1", "1", "activeDeadlineSeconds: 60, "), []string{fits + "(1 running, changed in place)"}, true},
		"other requests": {pod("a:2", "2", ""), []string{"The rollout of Pod default/one would not end, and 1 object would be rejected.", fits + "(1 running, unchanged)", "  It stays as it is in the cluster: the API server rejects it: spec: Forbidden: pod updates may not change fields other than"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := rolledOut(t, there, manifest("Pod", "one", tt.pod))
			has(t, f, tt.want...)
			if f.Fits() != tt.ends {
				t.Errorf("it ends: %v", f.Fits())
			}
		})
	}
}

// TestReportNamesAPodThatStaysTerminating: its StatefulSet waits for it.
func TestReportNamesAPodThatStaysTerminating(t *testing.T) {
	there := setOf("StatefulSet", "serviceName: set", pod("a:1", "1", ""))
	there = strings.Replace(there, "{name: set-1, ", "{name: set-1, deletionTimestamp: \"2026-01-01T00:00:00Z\", deletionGracePeriodSeconds: 30, ", 1)
	o := optionsFor(t, changed("StatefulSet", "set", "replicas: 2, serviceName: set", pod("a:1", "1", "")))
	s, _, err := snapshot.Read(strings.NewReader(onNodes + there))
	testkit.Must(t, err)
	s.Nodes[1].Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionUnknown}}
	o.Cluster = s
	f, err := Fit(t.Context(), o)
	testkit.Must(t, err)
	has(t, f, "  1 pod would stay pending: its StatefulSet creates it when pod set-1 is gone: it stays terminating, since the kubelet of its node does not answer")
}

func TestRolloutIsTheSameBytesOnAnyNumberOfProcessors(t *testing.T) {
	const strategy = "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"
	was := ""
	for _, processors := range []int{1, 2, 8, 8} {
		before := runtime.GOMAXPROCS(processors)
		f := rolledOut(t, deployed(strategy, pod("a:1", "2", ""), "node-1", "node-2"), changed("Deployment", "web", "minReadySeconds: 60, replicas: 2, "+strategy, pod("a:2", "2", "")))
		runtime.GOMAXPROCS(before)
		is := text(t, f, "json") + text(t, f, "html") + text(t, f, "markdown")
		if was != "" && is != was {
			t.Errorf("with %d processors:\n%s\nwithout:\n%s", processors, is, was)
		}
		was = is
	}
	for _, want := range []string{`<figure class="lanes" role="img"`, `<rect class="came" x="0.00" width="0.50"><title>&#43;0s: 1 pod created</title>`, `| \+1m00s | Deployment default/web | 1 pod deleted`, `"seconds": 60`} {
		if !strings.Contains(was, want) {
			t.Errorf("it lacks %s:\n%s", want, was)
		}
	}
}

// TestReportNamesAPodThatAFinalizerHolds, whether it has ended or not, and whatever its node is.
func TestReportNamesAPodThatAFinalizerHolds(t *testing.T) {
	outOfService := func(s *snapshot.Snapshot) {
		s.Nodes[1].Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionUnknown}}
		for _, key := range []string{v1.TaintNodeOutOfService, v1.TaintNodeUnreachable} {
			s.Nodes[1].Spec.Taints = append(s.Nodes[1].Spec.Taints, v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute})
		}
	}
	for name, change := range map[string]func(*snapshot.Snapshot, *v1.Pod){
		"it runs":                        func(*snapshot.Snapshot, *v1.Pod) {},
		"it has ended":                   func(_ *snapshot.Snapshot, pod *v1.Pod) { pod.Status.Phase = v1.PodFailed },
		"on a node that is out of order": func(s *snapshot.Snapshot, _ *v1.Pod) { outOfService(s) },
		"from which it is to be deleted": func(s *snapshot.Snapshot, pod *v1.Pod) { outOfService(s); pod.DeletionTimestamp = nil },
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsFor(t, changed("StatefulSet", "set", "replicas: 2, serviceName: set", pod("a:1", "1", "")))
			s, _, err := snapshot.Read(strings.NewReader(onNodes + setOf("StatefulSet", "serviceName: set", pod("a:1", "1", ""))))
			testkit.Must(t, err)
			held := &s.Pods[slices.IndexFunc(s.Pods, func(p v1.Pod) bool { return p.Name == "set-1" })]
			held.DeletionTimestamp, held.DeletionGracePeriodSeconds, held.Finalizers = ptr.To(metav1.Unix(1, 0)), ptr.To[int64](30), []string{"example.com/hold"}
			change(s, held)
			o.Cluster = s
			f, err := Fit(t.Context(), o)
			testkit.Must(t, err)
			has(t, f, "  1 pod would stay pending: its StatefulSet creates it when pod set-1 is gone: it stays terminating until its finalizer example.com/hold is removed")
		})
	}
}

// TestAPodThatAManifestLetsGoIsCreatedAgain: it was terminating, and the manifest has no finalizer any more.
func TestAPodThatAManifestLetsGoIsCreatedAgain(t *testing.T) {
	applied := `{"apiVersion":"v1","kind":"Pod","metadata":{"finalizers":["example.com/hold"],"name":"one","namespace":"default"}}`
	there := "pods:\n- metadata: {name: one, namespace: default, deletionTimestamp: \"2026-01-01T00:00:00Z\", deletionGracePeriodSeconds: 1, finalizers: [example.com/hold],\n    annotations: {kubectl.kubernetes.io/last-applied-configuration: '" + applied + "'}}\n" +
		"  spec: {nodeName: node-1, containers: [{name: c, image: a:1, resources: {requests: {cpu: 1}}}]}\n"
	has(t, rolledOut(t, there, manifest("Pod", "one", pod("a:1", "1", ""))), "Pod default/one: 1 of 1 fit")
}
