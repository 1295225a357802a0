package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// Two nodes of 4 CPUs and ten pods, in a zone each. On each runs a pod of web, with 2 CPUs.
var twoNodes = `
nodes:
- metadata: {name: node-1, labels: {topology.kubernetes.io/zone: a}}
  status: {allocatable: &room {cpu: "4", memory: 8Gi, pods: "10"}, capacity: *room}
- metadata: {name: node-2, labels: {topology.kubernetes.io/zone: b}}
  status: {allocatable: *room, capacity: *room}
storageClasses:
- {metadata: {name: at-once}, provisioner: example.com/disks}
- {metadata: {name: with-the-pod}, provisioner: example.com/disks, volumeBindingMode: WaitForFirstConsumer}
priorityClasses:
- {metadata: {name: high}, value: 1000}
replicaSets:
- metadata: {name: web-1, namespace: default, uid: web, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
  spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "2"}}}]}}}
pods:
` + running("web-1-a", "node-1") + running("web-1-b", "node-2")

func running(name, node string) string {
	return `- metadata: {name: ` + name + `, namespace: default, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: web, controller: true}]}
  spec: {nodeName: ` + node + `, containers: [{name: c, image: c, resources: {requests: {cpu: "2"}}}]}
`
}

// asks is the spec of a workload whose pods request so much.
func asks(cpu, more string) string {
	return strings.Replace(specOf(more), "image: c}", "image: c, resources: {requests: {cpu: "+cpu+"}}}", 1)
}

// fitted tries manifests on the cluster.
func fitted(t *testing.T, untilFull bool, manifests ...string) (*Fitting, error) {
	t.Helper()
	o := optionsFor(t, manifests...)
	o.UntilFull = untilFull
	return Fit(t.Context(), o)
}

// optionsFor has manifests tried on the cluster.
func optionsFor(t *testing.T, manifests ...string) Options {
	t.Helper()
	m, err := Read([]string{"-"}, strings.NewReader(strings.Join(manifests, "---\n")), Namespace{})
	testkit.Must(t, err)
	s, _, err := snapshot.Read(strings.NewReader(twoNodes))
	testkit.Must(t, err)
	s.Source = nil // it is all of the cluster
	config, err := kubescheduler.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"))
	testkit.Must(t, err)
	return Options{Options: engine.Options{Config: config, Cluster: s, Seed: 1}, Manifests: m}
}

// has fails unless the table has a line.
func has(t *testing.T, f *Fitting, lines ...string) {
	t.Helper()
	var table bytes.Buffer
	testkit.Must(t, report.Write(&table, "table", f, f.Report(true)))
	for _, line := range lines {
		if !slices.ContainsFunc(strings.Split(table.String(), "\n"), func(is string) bool { return strings.HasPrefix(is, line) }) {
			t.Errorf("it lacks %q:\n%s", line, &table)
		}
	}
}

func TestFitReportsWhatFitsAndWhatIsPending(t *testing.T) {
	claim := "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: %s, resources: {requests: {storage: 1Gi}}}}], "
	f, err := fitted(t, false,
		manifest("StatefulSet", "db", fmt.Sprintf(claim, "at-once")+asks("500m", "")),
		manifest("StatefulSet", "late", fmt.Sprintf(claim, "with-the-pod")+asks("500m", "")),
		manifest("DaemonSet", "agent", asks("500m", "")),
		manifest("DaemonSet", "here", asks("100m", "nodeSelector: {topology.kubernetes.io/zone: a}, ")),
		manifest("Job", "large", noSelector(asks("3", "restartPolicy: Never, "))),
	)
	testkit.Must(t, err)
	has(t, f, "1 pod would stay pending.", "StatefulSet default/db: 1 of 1 fit: 1 in ", "StatefulSet default/late: 1 of 1 fit", "DaemonSet default/agent: 2 of 2 fit: 1 in a, 1 in b",
		"  agent-node-2-1: node-2", "DaemonSet default/here: 1 of 1 fit: 1 in a", "Job default/large: 0 of 1 fit", "  1 pod would stay pending: 0/2 nodes are available: 2 Insufficient cpu", "  large-1: -")
	has(t, f, "Tried in memory, with seed 1. Inferred from pods, since the file lacks them: Deployment default/web. Requested, and not modelled: choose a zone for volumes of StorageClass at-once (")
	if f.Fits() || f.Tried != 6 || f.Pending != 1 {
		t.Errorf("%+v", f)
	}
}

func TestFitReplacesAWorkloadThatRuns(t *testing.T) {
	f, err := fitted(t, false, manifest("Deployment", "web", "replicas: 4, "+asks("2", "")))
	testkit.Must(t, err)
	has(t, f, "4 pods would fit.", "Deployment default/web: 4 of 4 fit: 2 in a, 2 in b (replacing 2 running)")
	if !f.Fits() || f.Pending != 0 {
		t.Errorf("%+v", f)
	}
}

func TestPreemptedPodsAreRecreated(t *testing.T) {
	f, err := fitted(t, false, manifest("Deployment", "urgent", "replicas: 2, "+asks("3", "priorityClassName: high, ")))
	testkit.Must(t, err)
	has(t, f, "2 pods would stay pending, and 2 pods would be preempted.", "Deployment default/urgent: 2 of 2 fit: 1 in a, 1 in b",
		"default/web-1-a on node-1 would be preempted by default/urgent-", "default/web-1-b on node-2 would be preempted by default/urgent-")
	for _, pod := range f.Preempted {
		if pod.To != "" || !strings.Contains(pod.Reason, "2 Insufficient cpu") {
			t.Errorf("%+v", pod)
		}
	}
	if f.Fits() {
		t.Errorf("%+v", f)
	}
}

func TestUntilFullCountsReplicas(t *testing.T) {
	for name, tt := range map[string]struct {
		manifest, short string
		fit             int
	}{
		"by CPU, beside the pods that run": {manifest("Deployment", "web", asks("300m", "")), "cpu", 12},
		"by the number of pods":            {manifest("Pod", "small", "containers: [{name: c, image: c}]"), "pods", 18},
		"and preempts no pods":             {manifest("Job", "j", noSelector(asks("1500m", "restartPolicy: Never, priorityClassName: high, "))), "cpu", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := fitted(t, true, tt.manifest)
			testkit.Must(t, err)
			w := f.Workloads[0]
			if w.Fit != tt.fit || len(w.Pods) != tt.fit || !f.Fits() || len(f.Preempted) > 0 {
				t.Errorf("%+v %+v", f, w)
			}
			has(t, f, fmt.Sprintf("%d more replicas would fit.", tt.fit), "  Limited by: "+tt.short+". The next one would stay pending: 0/2 nodes are available: ")
		})
	}
}

func TestUntilFullEndsAtALimit(t *testing.T) {
	f := Fitting{UntilFull: true, Workloads: []*Workload{{Fit: MostReplicas}}}
	got := f.Verdict()
	if got != "at least 10,000 more replicas would fit" {
		t.Error(got)
	}
}

func TestUntilFullAddsWorkloadsInTurn(t *testing.T) {
	f, err := fitted(t, true, manifest("Deployment", "small", asks("300m", "")), manifest("Deployment", "large", asks("1", "")),
		manifest("Job", "misplaced", noSelector(asks("1m", "restartPolicy: Never, nodeSelector: {no: such}, "))))
	testkit.Must(t, err)
	large, small, none := f.Workloads[0], f.Workloads[1], f.Workloads[2]
	if small.Fit != 6 || large.Fit != 2 || none.Fit != 0 || f.Fits() {
		t.Errorf("%d, %d and %d: %s", small.Fit, large.Fit, none.Fit, f.Verdict())
	}
	has(t, f, "2 more replicas of Deployment default/large, 6 more replicas of Deployment default/small, 0 more replicas of Job default/misplaced would fit.")
}

// TestRunsShowTheWorst: the two nodes are alike, so that in some runs a pod that needs a
// whole zone to itself finds none.
func TestRunsShowTheWorst(t *testing.T) {
	o := optionsFor(t, manifest("Deployment", "a", "replicas: 2, "+asks("1", "")), manifest("Deployment", "b", asks("2", "")))
	o.Runs, o.ConfigName = 8, "default"
	var steps []string
	o.Progress = func(step string, _, _ int) { steps = append(steps, step) }
	f, err := Fit(t.Context(), o)
	testkit.Must(t, err)
	waiting := map[int]int{}
	for _, run := range f.Basis.Runs {
		waiting[run.Count]++
	}
	at := f.Basis.Runs[f.Basis.Seed-1]
	if len(f.Basis.Runs) != 8 || at.Seed != f.Basis.Seed || at.Count != f.Pending || f.Pending != slices.Max(slices.Collect(maps.Keys(waiting))) {
		t.Errorf("%+v, and %d wait", f.Basis, f.Pending)
	}
	has(t, f, "Tried in memory under default, 8 times, with seeds 1 to 8: pods without a node: ")
	if !slices.Contains(steps, "run 8 of 8: schedules") {
		t.Error(steps)
	}
	o = optionsFor(t, manifest("Deployment", "a", "replicas: 2, "+asks("1", "")), manifest("Deployment", "b", asks("2", "")))
	o.Seed = f.Basis.Seed
	again, err := Fit(t.Context(), o)
	if err != nil || again.Verdict() != f.Verdict() {
		t.Errorf("by itself the run with seed %d comes to %v %v, and not to %s", o.Seed, again, err, f.Verdict())
	}
}

// TestKubeletAdmitsPodsThatNameTheirNode: the node has 4 CPUs, of which 2 are free.
func TestKubeletAdmitsPodsThatNameTheirNode(t *testing.T) {
	on := func(node, cpu string) string {
		return "nodeName: " + node + ", containers: [{name: c, image: c, resources: {requests: {cpu: " + cpu + "}}}]"
	}
	f, err := fitted(t, false, manifest("Pod", "first", on("node-1", "2")), manifest("Pod", "later", on("node-1", "1")), manifest("Pod", "lost", on("node-9", "1")))
	testkit.Must(t, err)
	has(t, f, "2 pods would stay pending.", "  first: node-1", "  No scheduler places them: spec.nodeName is node-1",
		"  1 pod would stay pending: the kubelet of node-1 rejects it: OutOfcpu: Insufficient cpu, requested: 1000, used: 4000, capacity: 4000",
		"  1 pod would stay pending: spec.nodeName is node-9, which is not there: it is deleted")
	// A controller creates them again and again.
	of := func(node string) string { return asks("2", "nodeName: "+node+", ") }
	f, err = fitted(t, false, manifest("Deployment", "rejected", "replicas: 2, "+of("node-1")), manifest("Deployment", "lost", "replicas: 2, "+of("node-9")))
	testkit.Must(t, err)
	has(t, f, "3 pods would stay pending.", "Deployment default/rejected: 1 of 2 fit", "  1 pod would stay pending: the kubelet of node-1 rejects it: OutOfcpu: ",
		"  2 pods would stay pending: spec.nodeName is node-9, which is not there: it is deleted")
	full, err := fitted(t, true, manifest("Pod", "small", on("node-1", "500m")))
	if err != nil || full.Workloads[0].Fit != 4 {
		t.Errorf("%v %+v", err, full)
	}
}

func TestPlaceNamesOneNodeWhereThereWasNoChoice(t *testing.T) {
	f, err := fitted(t, false, manifest("Pod", "any", "containers: [{name: c, image: c}]"), manifest("Pod", "there", "nodeSelector: {topology.kubernetes.io/zone: b}, containers: [{name: c, image: c}]"))
	testkit.Must(t, err)
	any := f.Workloads[0].Pods["any"]
	has(t, f, "  any: "+any+" or 1 other", "  there: node-2")
	if f.Workloads[1].Feasible["there"] != 1 {
		t.Errorf("%+v", f.Workloads[1])
	}
}

func TestFitRefusesWhatCannotBeTried(t *testing.T) {
	f, err := fitted(t, false, manifest("Deployment", "web", "replicas: 0, "+specOf("")))
	testkit.Must(t, err)
	has(t, f, "No pod is wanted: ", "Deployment default/web: 0 of 0 fit")
	f, err = fitted(t, false, manifest("Deployment", "odd", specOf("priorityClassName: none, ")), manifest("Deployment", "a", specOf("")))
	testkit.Must(t, err)
	has(t, f, "1 pod would not be created.", `  1 pod would not be created: the API server rejects it: no PriorityClass with name none was found`, "Deployment default/a: 1 of 1 fit")
	_, err = fitted(t, true, manifest("Deployment", "a", specOf("")), manifest("DaemonSet", "agent", specOf("")))
	testkit.ErrorHas(t, err, "cannot be said of a DaemonSet")
	for manifest, want := range map[string]string{
		"apiVersion: app/v1\nkind: Deployment":   "Deployment web: Kubernetes has no such kind in app/v1; did you mean apiVersion apps/v1?",
		"apiVersion: apps/v1\nkind: Deploymnt":   "Deploymnt web: Kubernetes has no such kind in apps/v1",
		"apiVersion: v1\nkind: CronJob":          "CronJob web: Kubernetes has no such kind in v1; did you mean apiVersion batch/v1?",
		"apiVersion: batch/v2alpha1\nkind: Job":  "",
		"apiVersion: example.com/v1\nkind: Gang": "",
	} {
		_, err := Read([]string{"-"}, strings.NewReader(manifest+"\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: c, image: c}]}}}\n"), Namespace{})
		testkit.Equal(t, strings.TrimPrefix(testkit.Message(err), "the manifests: "), want, "%s", manifest)
	}
}

func TestPlacesAreZonesWithPods(t *testing.T) {
	for want, w := range map[string]Workload{
		"[]":                             {Fit: 3}, // all on nodes without a zone
		"[2 in b]":                       {Fit: 2, Zones: map[string]int{"b": 2}},
		"[1 in a, 2 in c, 4 in no zone]": {Fit: 7, Zones: map[string]int{"c": 2, "a": 1}},
	} {
		got := "[" + strings.Join(w.places(), ", ") + "]"
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFitCountsAdoptedPodsAsRunning: controllers adopt the bare pods that they select, and delete what is too many.
func TestFitCountsAdoptedPodsAsRunning(t *testing.T) {
	for name, want := range map[string]string{
		manifest("ReplicaSet", "a", "replicas: 3, "+asks("1", "")):  "ReplicaSet default/a: 3 of 3 fit: 2 in a, 1 in b (2 running, unchanged)",
		manifest("ReplicaSet", "a", "replicas: 1, "+asks("1", "")):  "ReplicaSet default/a: 1 of 1 fit: 1 in a (1 running, unchanged; 1 deleted)",
		manifest("StatefulSet", "a", "replicas: 2, "+asks("1", "")): "StatefulSet default/a: 2 of 2 fit: 2 in b (replacing 1 running)",
		manifest("DaemonSet", "a", asks("1", "")):                   "DaemonSet default/a: 2 of 2 fit: 1 in a, 1 in b (replacing 2 running)",
	} {
		o := optionsFor(t, name)
		for _, bare := range []string{"a-0", "other"} {
			pod := o.Cluster.Pods[0].DeepCopy()
			pod.Name, pod.OwnerReferences, pod.Labels = bare, nil, map[string]string{"app": "a"}
			pod.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("1")
			o.Cluster.Pods = append(o.Cluster.Pods, *pod)
		}
		f, err := Fit(t.Context(), o)
		testkit.Must(t, err)
		has(t, f, want)
		if strings.Contains(text(t, f, "table"), "by preemption") {
			t.Errorf("a pod that was there is said to preempt:\n%s", text(t, f, "table"))
		}
	}
}

// TestFitKeepsWhatDoesNotChange: 2 pods of web run, and 4 CPUs are free.
func TestFitKeepsWhatDoesNotChange(t *testing.T) {
	spec := func(replicas, image string) string {
		return replicas + strings.NewReplacer("app: a", "app: web", "image: c", "image: "+image).Replace(asks("2", ""))
	}
	for name, tt := range map[string]struct {
		replicas, image string
		digested        bool // the cluster's file, in which the pods have a variable
		want            string
	}{
		"all of it":                       {"replicas: 2, ", "c", false, "2 of 2 fit: 1 in a, 1 in b (2 running, unchanged)"},
		"fewer replicas":                  {"replicas: 1, ", "c", false, "1 of 1 fit: 1 in b (1 running, unchanged; 1 deleted)"},
		"more replicas":                   {"replicas: 4, ", "c", false, "4 of 4 fit: 2 in a, 2 in b (2 running, unchanged)"},
		"as many as there are":            {"", "c", false, "2 of 2 fit: 1 in a, 1 in b (2 running, unchanged)"},
		"no replica":                      {"replicas: 0, ", "c", false, "0 of 0 fit (2 deleted)"},
		"a changed template":              {"replicas: 2, ", "d", false, "2 of 2 fit: 1 in a, 1 in b (replacing 2 running)"},
		"another field":                   {"replicas: 2, ", "c, env: [{name: A}]", false, "2 of 2 fit: 1 in a, 1 in b (replacing 2 running)"},
		"a variable with a digest":        {"replicas: 2, ", "c, env: [{name: A, value: secret}]", true, "2 of 2 fit: 1 in a, 1 in b (2 running, unchanged)"},
		"another value of it":             {"replicas: 2, ", "c, env: [{name: A, value: other}]", true, "2 of 2 fit: 1 in a, 1 in b (replacing 2 running)"},
		"a changed one, with a new count": {"", "d", false, "2 of 2 fit: 1 in a, 1 in b (replacing 2 running)"},
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsFor(t, manifest("Deployment", "web", spec(tt.replicas, tt.image)))
			runs := "c"
			if tt.digested {
				runs = "c, env: [{name: A, value: secret}]"
			}
			live := optionsFor(t, manifest("Deployment", "web", spec("replicas: 2, ", runs))).Manifests.workloads[0].object.(*appsv1.Deployment)
			live.Annotations = nil
			o.Cluster.Deployments = []appsv1.Deployment{*live}
			if tt.digested {
				env := live.Spec.Template.Spec.Containers[0].Env
				o.Cluster.ReplicaSets[0].Spec.Template.Spec.Containers[0].Env = env
				for i := range o.Cluster.Pods {
					o.Cluster.Pods[i].Spec.Containers[0].Env = env
				}
				o.Cluster.Source = &snapshot.Source{}
				testkit.Must(t, digest.Snapshot(o.Cluster, nil))
			}
			f, err := Fit(t.Context(), o)
			testkit.Must(t, err)
			has(t, f, "Deployment default/web: "+tt.want)
			if strings.HasSuffix(tt.want, "running, unchanged)") {
				has(t, f, "  web-1-a: node-1")
			}
		})
	}
}

func TestFitChangesAPodAsKubectlDoes(t *testing.T) {
	old := optionsFor(t, manifest("Pod", "p", "containers: [{name: c, image: old}]")).Manifests.workloads[0].object.(*v1.Pod)
	old.Spec.NodeName = "node-1"
	for spec, want := range map[string][2]string{ // applied, and replaced
		"containers: [{name: c, image: old}]": {"Pod default/p: 1 of 1 fit: 1 in a (1 running, unchanged)", "Pod default/p: 1 of 1 fit: 1 in a (1 running, unchanged)"},
		"containers: [{name: c, image: new}]": {"Pod default/p: 1 of 1 fit: 1 in a (1 running, changed in place)", "Pod default/p: 1 of 1 fit: 1 in a (replacing 1 running)"},
		"nodeSelector: {a: b}, containers: [{name: c, image: old}]": {
			"  It stays as it is in the cluster: the API server rejects it: spec: Forbidden: pod updates may not change fields other than", "Pod default/p: 0 of 1 fit (replacing 1 running)",
		},
	} {
		for i, replace := range []bool{false, true} {
			o := optionsFor(t, manifest("Pod", "p", spec))
			o.Replace = replace
			o.Cluster.Pods = append(o.Cluster.Pods, *old)
			f, err := Fit(t.Context(), o)
			testkit.Must(t, err)
			has(t, f, want[i])
		}
	}
}

func TestFitDoesNotCountAPodThatADeadNodeKeeps(t *testing.T) {
	o := optionsFor(t, manifest("Pod", "p", "nodeSelector: {a: b}, containers: [{name: c, image: old}]"))
	old := optionsFor(t, manifest("Pod", "p", "containers: [{name: c, image: old}]")).Manifests.workloads[0].object.(*v1.Pod)
	old.Spec.NodeName, old.DeletionTimestamp, old.DeletionGracePeriodSeconds = "node-1", &metav1.Time{Time: time.Unix(0, 0)}, new(int64)
	o.Cluster.Pods = append(o.Cluster.Pods, *old)
	o.Cluster.Nodes[0].Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionUnknown}}
	f, err := Fit(t.Context(), o)
	testkit.Must(t, err)
	has(t, f, "Pod default/p: 0 of 1 fit", "  1 pod would not be created: the API server rejects it: spec: Forbidden: pod updates may not change fields other than")
}

// TestQuotasLimitPods: 2 pods of web run, and a pod that goes makes room.
func TestQuotasLimitPods(t *testing.T) {
	quota := "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: quota, namespace: default}\nspec: {hard: {pods: 4, requests.cpu: 5500m}}\n"
	f, err := fitted(t, false, manifest("Deployment", "new", "replicas: 5, "+asks("500m", "")), quota)
	testkit.Must(t, err)
	has(t, f, "3 pods would not be created.", "Deployment default/new: 2 of 5 fit",
		"  3 pods would not be created: the API server rejects it: exceeded quota: quota, requested: pods=1, used: pods=4, limited: pods=4",
		"Tried in memory, with seed 1. Inferred from pods, since the file lacks them: Deployment default/web. Webhooks, admission policies, service accounts and autoscalers are not modelled.")
	f, err = fitted(t, false, manifest("Deployment", "web", "replicas: 3, "+asks("1900m", "")), quota)
	testkit.Must(t, err)
	has(t, f, "Deployment default/web: 2 of 3 fit", "  1 pod would not be created: the API server rejects it: exceeded quota: quota, requested: requests.cpu=1900m, used: requests.cpu=3800m, limited: requests.cpu=5500m")
}

// TestFitAnswersForTheOthers: what an API server rejects is said by name.
func TestFitAnswersForTheOthers(t *testing.T) {
	o := optionsFor(t, manifest("Deployment", "web", strings.Replace(specOf(""), "{app: a}", "{app: b}", 1)), manifest("Deployment", "none", "replicas: 2, "+specOf("priorityClassName: none, ")),
		manifest("Pod", "large", "containers: [{name: c, image: c, resources: {limits: {cpu: 1}}}]"), strings.Replace(manifest("Pod", "late", "containers: [{name: c, image: c}]"), "{name: ", "{namespace: going, name: ", 1),
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: huge}\nvalue: 2000000000\n", manifest("Pod", "good", "containers: [{name: c, image: c}]"))
	now := metav1.Now()
	o.Cluster.Namespaces = []v1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "going", DeletionTimestamp: &now}}}
	o.Cluster.LimitRanges = []v1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Name: "l", Namespace: "default"}, Spec: v1.LimitRangeSpec{Limits: []v1.LimitRangeItem{{
		Type: v1.LimitTypeContainer, Min: v1.ResourceList{v1.ResourceCPU: resource.MustParse("10m")}, Max: v1.ResourceList{v1.ResourceCPU: resource.MustParse("500m")},
	}}}}}
	f, err := Fit(t.Context(), o)
	testkit.Must(t, err)
	const rejected = " would not be created: the API server rejects it: "
	has(t, f, "5 pods would not be created, and 1 object would be rejected.", `  1 pod`+rejected+`spec.template.metadata.labels`,
		"  1 pod"+rejected+"maximum cpu usage per Container is 500m, but limit is 1", "  2 pods"+rejected+"no PriorityClass with name none was found", "Deployment default/none: 0 of 2 fit", "Pod default/good: 1 of 1 fit",
		"  1 pod"+rejected+"unable to create new content in namespace going because it is being terminated", `Rejected: PriorityClass.scheduling.k8s.io "huge" is invalid`)
	if f.Fits() {
		t.Errorf("%+v", f)
	}
}

// TestOrderOfItemsMakesNoDifference: each node can be the one of the first pod, and one pod more than fits is wanted.
func TestOrderOfItemsMakesNoDifference(t *testing.T) {
	texts := []string{
		manifest("Deployment", "b", "replicas: 2, "+asks("1500m", "")), manifest("Deployment", "a", "replicas: 2, "+asks("1", "")), manifest("Pod", "c", "containers: [{name: c, image: c}]"),
	}
	var verdicts [2]string
	for i := range verdicts {
		o := optionsFor(t, texts...)
		if i > 0 {
			slices.Reverse(texts)
			o = optionsFor(t, texts...)
			slices.Reverse(o.Cluster.Nodes)
			slices.Reverse(o.Cluster.Pods)
		}
		f, err := Fit(t.Context(), o)
		testkit.Must(t, err)
		f.Took = 0
		text, err := json.Marshal(f)
		testkit.Must(t, err)
		verdicts[i] = string(text)
	}
	if verdicts[0] != verdicts[1] {
		t.Errorf("%s\n%s", verdicts[0], verdicts[1])
	}
}
