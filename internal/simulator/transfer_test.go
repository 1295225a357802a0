package simulator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// load reads a file that kube-scheduler-simulator has exported.
func load(t *testing.T) *snapshot.Snapshot {
	t.Helper()
	return read(t, string(testkit.ReadFile(t, "../snapshot/testdata/kube-scheduler-simulator.json")))
}

// read reads a file, whatever of it is skipped.
func read(t *testing.T, file string) *snapshot.Snapshot {
	t.Helper()
	s, _, err := snapshot.Read(strings.NewReader(file))
	testkit.Must(t, err)
	return s
}

func TestFileOfKubeSchedulerSimulatorIsImportedAndExported(t *testing.T) {
	t.Cleanup(reset(t))
	done, of := 0, 0
	testkit.Must(t, sim.Import(t.Context(), load(t), func(d, o int) { done, of = max(done, d), o }))
	if of != 9 || done == 0 {
		t.Errorf("progress ended with %d of %d", done, of)
	}
	core := sim.Client().CoreV1()
	bound := getPod(t, "team", "bound")
	if bound.Spec.NodeName != "node-1" || len(bound.OwnerReferences) > 0 {
		t.Errorf("pod bound: %v", bound)
	}
	node, err := core.Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
	if err != nil || node.Status.Allocatable.Cpu().String() != "4" {
		t.Errorf("node-1: %v, %v", node, err)
	}
	volume, err := core.PersistentVolumes().Get(t.Context(), "pv-1", metav1.GetOptions{})
	testkit.Must(t, err)
	claim, err := core.PersistentVolumeClaims("team").Get(t.Context(), "pvc-1", metav1.GetOptions{})
	if err != nil || volume.Spec.ClaimRef.UID != claim.UID || volume.Status.Phase != "Bound" || claim.Status.Phase != "Bound" {
		t.Errorf("volume %v, claim %v, %v", volume, claim, err)
	}
	eventually(t, "pod waiting is scheduled", func() bool {
		attempts := sim.Recorder().Attempts("team", "waiting")
		return len(attempts) > 0 && attempts[0].Result == recorder.Scheduled
	})

	before, file := names(t), exported(t)
	testkit.Must(t, sim.Import(t.Context(), load(t), nil)) // a second time
	reset(t)()
	empty := names(t)
	testkit.Must(t, sim.Import(t.Context(), read(t, file), nil))
	after := names(t)
	if !slices.Equal(before, after) || len(after) != 9 || len(empty) > 0 {
		t.Errorf("exported %v, after a reset %v, imported %v", before, empty, after)
	}
	testkit.Has(t, string(sim.SchedulerConfig()), "RegexScheduling")
}

// exported is a file of all that there is, with the fields of kube-scheduler-simulator's.
func exported(t *testing.T) string {
	t.Helper()
	all, err := sim.Export(t.Context())
	testkit.Must(t, err)
	file, err := json.Marshal(all)
	testkit.Must(t, err)
	for _, field := range []string{"pods", "nodes", "pvs", "pvcs", "storageClasses", "priorityClasses", "schedulerConfig", "namespaces"} {
		if !strings.Contains(string(file), `"`+field+`":`) {
			t.Errorf("the export has no %s", field)
		}
	}
	return string(file)
}

// names lists all that an export contains.
func names(t *testing.T) (all []string) {
	t.Helper()
	s, err := sim.Export(t.Context())
	testkit.Must(t, err)
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(s) {
			all = append(all, kind.Kind+" "+o.GetNamespace()+"/"+o.GetName())
		}
	}
	return all
}

func TestImportThatFailsSaysWhy(t *testing.T) {
	t.Cleanup(reset(t))
	const badConfig = `{"profiles":[{"plugins":{"multiPoint":{"enabled":[{"name":"Nope"}]}}}]}`
	err := sim.Import(t.Context(), read(t, `{"nodes":[{"metadata":{"name":"a"}}],"schedulerConfig":`+badConfig+`}`), nil)
	testkit.ErrorHas(t, err, "plugin Nope")
	testkit.ErrorHas(t, err, `"objects only" skips the configuration`)
	left := names(t)
	if len(left) > 0 {
		t.Errorf("with a bad configuration %v were imported", left)
	}
	err = sim.Import(t.Context(), &snapshot.Snapshot{Pods: []v1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}}}}, nil)
	testkit.ErrorHas(t, err, "import: pod default/p: spec.containers")
}

// A name that comes back at once, whatever a user of the page or the API lets it.
func TestPodIsScheduledAfterEveryResetAndImport(t *testing.T) {
	use(t, "native")
	for round := range 4 {
		for range 1 + round%2 { // now and then over what is there
			in := read(t, "nodes: [{metadata: {name: kubecon-1}}]\npods: [{metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: c}]}}]")
			testkit.Must(t, sim.Import(t.Context(), in, nil))
		}
		attempt(t, "p", recorder.Scheduled)
		reset(t)()
	}
}

// A file that does not say how large a node is leaves it as large as it is, and there is one default class only.
func TestImportChangesWhatIsThere(t *testing.T) {
	use(t, "native")
	const more = ", status: {capacity: &room {pods: '10'}, allocatable: *room}"
	for i, room := range []string{more, ""} {
		in := read(t, fmt.Sprintf("nodes: [{metadata: {name: kubecon-1, labels: {time: '%[1]d'}}%[2]s}]\n"+
			"priorityClasses: [{metadata: {name: usual, labels: {time: '%[1]d'}}, value: 7, globalDefault: true}]", i, room))
		testkit.Must(t, sim.Import(t.Context(), in, nil))
	}
	node, err := sim.Client().CoreV1().Nodes().Get(t.Context(), "kubecon-1", metav1.GetOptions{})
	if err != nil || node.Labels["time"] != "1" || node.Status.Allocatable.Pods().Value() != 10 {
		t.Errorf("labels %v, allocatable %v, %v", node.Labels, node.Status.Allocatable, err)
	}
	class, err := sim.Client().SchedulingV1().PriorityClasses().Get(t.Context(), "usual", metav1.GetOptions{})
	if err != nil || !class.GlobalDefault || class.Labels["time"] != "1" {
		t.Errorf("it is %v, %v", class, err)
	}
}
