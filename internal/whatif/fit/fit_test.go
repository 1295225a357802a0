package fit

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
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
	m, err := Read([]string{"-"}, strings.NewReader(strings.Join(manifests, "---\n")))
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := snapshot.Read(strings.NewReader(twoNodes))
	if err != nil {
		t.Fatal(err)
	}
	config, err := scheduler.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"))
	if err != nil {
		t.Fatal(err)
	}
	return Options{Options: engine.Options{Config: config, Cluster: s, Seed: 1}, Manifests: m}
}

// has fails unless the table has a line.
func has(t *testing.T, f *Fitting, lines ...string) {
	t.Helper()
	var table bytes.Buffer
	if err := report.Write(&table, "table", f, f.Report(true)); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	has(t, f, "1 pod would stay pending.", "StatefulSet default/db: 1 of 1 fit: 1 in ", "StatefulSet default/late: 1 of 1 fit", "DaemonSet default/agent: 2 of 2 fit: 1 in a, 1 in b",
		"  agent-node-2-1: node-2", "DaemonSet default/here: 1 of 1 fit: 1 in a", "Job default/large: 0 of 1 fit", "  1 pod would stay pending: 0/2 nodes are available: 2 Insufficient cpu", "  large-1: -")
	has(t, f, "Tried in memory, with seed 1. Requested, and not modelled: choose a zone for volumes of StorageClass at-once (")
	if f.Fits() || f.Tried != 6 || f.Pending != 1 {
		t.Errorf("%+v", f)
	}
}

func TestFitReplacesAWorkloadThatRuns(t *testing.T) {
	f, err := fitted(t, false, manifest("Deployment", "web", "replicas: 4, "+asks("2", "")))
	if err != nil {
		t.Fatal(err)
	}
	has(t, f, "4 pods would fit.", "Deployment default/web: 4 of 4 fit: 2 in a, 2 in b (replacing 2 running)")
	if !f.Fits() || f.Pending != 0 {
		t.Errorf("%+v", f)
	}
}

func TestPreemptedPodsAreRecreated(t *testing.T) {
	f, err := fitted(t, false, manifest("Deployment", "urgent", "replicas: 2, "+asks("3", "priorityClassName: high, ")))
	if err != nil {
		t.Fatal(err)
	}
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
		"by CPU, beside the pods that run": {manifest("Deployment", "web", asks("300m", "")), "[cpu]", 12},
		"by the number of pods":            {manifest("Pod", "small", "containers: [{name: c, image: c}]"), "[pods]", 18},
		"and preempts no pods":             {manifest("Job", "j", noSelector(asks("1500m", "restartPolicy: Never, priorityClassName: high, "))), "[cpu]", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := fitted(t, true, tt.manifest)
			if err != nil {
				t.Fatal(err)
			}
			w := f.Workloads[0]
			if w.Fit != tt.fit || len(w.Pods) != tt.fit || fmt.Sprint(w.Short) != tt.short || !f.Fits() || len(f.Preempted) > 0 {
				t.Errorf("%+v %+v", f, w)
			}
			has(t, f, fmt.Sprintf("%d more replicas would fit.", tt.fit), "  Limited by: "+strings.Trim(tt.short, "[]")+". The next one would stay pending: 0/2 nodes are available: ")
		})
	}
}

func TestUntilFullAddsWorkloadsInTurn(t *testing.T) {
	f, err := fitted(t, true, manifest("Deployment", "small", asks("300m", "")), manifest("Deployment", "large", asks("1", "")),
		manifest("Job", "misplaced", noSelector(asks("1m", "restartPolicy: Never, nodeSelector: {no: such}, "))))
	if err != nil {
		t.Fatal(err)
	}
	small, large, none := f.Workloads[0], f.Workloads[1], f.Workloads[2]
	if small.Fit != 6 || large.Fit != 2 || none.Fit != 0 || f.Fits() {
		t.Errorf("%d, %d and %d: %s", small.Fit, large.Fit, none.Fit, f.Verdict())
	}
	has(t, f, "6 more replicas of Deployment default/small, 2 more replicas of Deployment default/large, 0 more replicas of Job default/misplaced would fit.")
}

// TestRunsShowTheWorst: the two nodes are alike, so that in some runs a pod that needs a
// whole zone to itself finds none.
func TestRunsShowTheWorst(t *testing.T) {
	o := optionsFor(t, manifest("Deployment", "a", "replicas: 2, "+asks("1", "")), manifest("Deployment", "b", asks("2", "")))
	o.Runs, o.Name = 8, "default"
	var steps []string
	o.Progress = func(step string, _, _ int) { steps = append(steps, step) }
	f, err := Fit(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	waiting := map[int]int{}
	for _, run := range f.Basis.Runs {
		waiting[run.Count]++
	}
	at := f.Basis.Runs[f.Basis.Seed-1]
	if len(f.Basis.Runs) != 8 || at.Seed != f.Basis.Seed || at.Count != f.Pending || f.Pending != slices.Max(slices.Collect(maps.Keys(waiting))) {
		t.Errorf("%+v, and %d wait", f.Basis, f.Pending)
	}
	has(t, f, "Tried in memory under default, 8 times, with seeds 1 to 8: pods that would stay pending: ")
	if !slices.Contains(steps, "run 8 of 8: schedules") {
		t.Error(steps)
	}
	o = optionsFor(t, manifest("Deployment", "a", "replicas: 2, "+asks("1", "")), manifest("Deployment", "b", asks("2", "")))
	if true {
		o.Seed = f.Basis.Seed
		again, err := Fit(t.Context(), o)
		if err != nil || again.Verdict() != f.Verdict() {
			t.Errorf("by itself the run with seed %d comes to %v %v, and not to %s", o.Seed, again, err, f.Verdict())
		}
	}
}

// TestKubeletAdmitsPodsThatNameTheirNode: the node has 4 CPUs, of which 2 are free.
func TestKubeletAdmitsPodsThatNameTheirNode(t *testing.T) {
	on := func(node, cpu string) string {
		return "nodeName: " + node + ", containers: [{name: c, image: c, resources: {requests: {cpu: " + cpu + "}}}]"
	}
	f, err := fitted(t, false, manifest("Pod", "small", on("node-1", "2")), manifest("Pod", "large", on("node-1", "1")), manifest("Pod", "lost", on("node-9", "1")))
	if err != nil {
		t.Fatal(err)
	}
	has(t, f, "2 pods would stay pending.", "  small: node-1", "  No scheduler places them: spec.nodeName is node-1",
		"  1 pod would stay pending: the kubelet of node-1 rejects it: OutOfcpu: Insufficient cpu, requested: 1000, used: 4000, capacity: 4000",
		"  1 pod would stay pending: spec.nodeName is node-9, which is not there: it is deleted")
	full, err := fitted(t, true, manifest("Pod", "small", on("node-1", "500m")))
	if err != nil || full.Workloads[0].Fit != 4 {
		t.Errorf("%v %+v", err, full)
	}
}

func TestPlaceNamesOneNodeWhereThereWasNoChoice(t *testing.T) {
	f, err := fitted(t, false, manifest("Pod", "any", "containers: [{name: c, image: c}]"), manifest("Pod", "there", "nodeSelector: {topology.kubernetes.io/zone: b}, containers: [{name: c, image: c}]"))
	if err != nil {
		t.Fatal(err)
	}
	any := f.Workloads[0].Pods["any"]
	has(t, f, "  any: "+any+" or 1 other", "  there: node-2")
	if f.Workloads[1].Feasible["there"] != 1 {
		t.Errorf("%+v", f.Workloads[1])
	}
}

func TestQuotasAreNotModelled(t *testing.T) {
	quota := "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: quota, namespace: default}\nspec: {hard: {pods: \"1\"}}\n"
	f, err := fitted(t, false, manifest("Deployment", "web", "replicas: 2, "+specOf("")), quota)
	if err != nil {
		t.Fatal(err)
	}
	has(t, f, "2 pods would fit.", "Tried in memory, with seed 1. Requested, and not modelled: reject pods over v1 resourcequotas. Webhooks,")
}

func TestFitRefusesWhatCannotBeTried(t *testing.T) {
	for want, manifests := range map[string]string{
		`Deployment.apps "web" is invalid: spec.template.metadata.labels`: manifest("Deployment", "web", strings.Replace(specOf(""), "{app: a}", "{app: b}", 1)),
		"nothing was tried": manifest("Deployment", "web", "replicas: 0, "+specOf("")),
	} {
		f, err := fitted(t, false, manifests)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v %+v, want %s", err, f, want)
		}
	}
	f, err := fitted(t, false, manifest("Deployment", "odd", specOf("priorityClassName: none, ")), manifest("Deployment", "a", specOf("")))
	if err != nil {
		t.Fatal(err)
	}
	has(t, f, "1 pod would stay pending.", `  1 pod would stay pending: it cannot be created: pods "odd-`, "Deployment default/a: 1 of 1 fit")
	f, err = fitted(t, true, manifest("Deployment", "a", specOf("")), manifest("DaemonSet", "agent", specOf("")))
	if err == nil || !strings.Contains(err.Error(), "cannot be said of a DaemonSet") {
		t.Errorf("%v %+v", err, f)
	}
}

func TestPlacesAreZonesWithPods(t *testing.T) {
	zones := []string{"a", "b", "c"}
	for want, w := range map[string]Workload{
		"[]":                             {Fit: 3, Spread: []int{0, 0, 0}}, // all on nodes without a zone
		"[2 in b]":                       {Fit: 2, Spread: []int{0, 2, 0}},
		"[1 in a, 2 in c, 4 in no zone]": {Fit: 7, Spread: []int{1, 0, 2}},
	} {
		got := "[" + strings.Join(w.Places(zones), ", ") + "]"
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
