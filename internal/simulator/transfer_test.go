package simulator

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// load reads a file that kube-scheduler-simulator has exported.
func load(t *testing.T) *snapshot.Snapshot {
	t.Helper()
	return loadFile(t, "kube-scheduler-simulator.json")
}

func loadFile(t *testing.T, name string) *snapshot.Snapshot {
	t.Helper()
	file, err := os.ReadFile("../snapshot/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(file))
}

// read reads a file, whatever of it is skipped.
func read(t *testing.T, file string) *snapshot.Snapshot {
	t.Helper()
	s, _, err := snapshot.Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFileOfKubeSchedulerSimulatorsPageLoads(t *testing.T) {
	t.Cleanup(reset(t))
	if err := sim.Import(t.Context(), loadFile(t, "kube-scheduler-simulator.export.yml"), nil); err != nil {
		t.Error(err)
	}
}

func TestFileOfKubeSchedulerSimulatorLoads(t *testing.T) {
	t.Cleanup(reset(t))
	var done, of int
	in := load(t)
	if err := sim.Import(t.Context(), in, func(d, o int) { done, of = max(done, d), o }); err != nil {
		t.Fatal(err)
	}
	if of != 9 || done == 0 {
		t.Errorf("progress ended with %d of %d", done, of)
	}
	core := sim.Client().CoreV1()
	bound, err := core.Pods("team").Get(t.Context(), "bound", metav1.GetOptions{})
	if err != nil || bound.Spec.NodeName != "node-1" || len(bound.OwnerReferences) > 0 {
		t.Errorf("pod bound: %v, %v", bound, err)
	}
	node, err := core.Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
	if err != nil || node.Status.Allocatable.Cpu().String() != "4" {
		t.Errorf("node-1: %v, %v", node, err)
	}
	volume, err := core.PersistentVolumes().Get(t.Context(), "pv-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	claim, err := core.PersistentVolumeClaims("team").Get(t.Context(), "pvc-1", metav1.GetOptions{})
	if err != nil || volume.Spec.ClaimRef.UID != claim.UID || volume.Status.Phase != "Bound" || claim.Status.Phase != "Bound" {
		t.Errorf("volume %v, claim %v, %v", volume, claim, err)
	}
	eventually(t, "pod waiting is scheduled", func() bool {
		attempts := sim.Recorder().Attempts("team", "waiting")
		return len(attempts) > 0 && attempts[0].Result == recorder.Scheduled
	})
	if err := sim.Import(t.Context(), load(t), nil); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestWhatIsExportedCanBeImported(t *testing.T) {
	t.Cleanup(reset(t))
	if err := sim.Import(t.Context(), load(t), nil); err != nil {
		t.Fatal(err)
	}
	first := names(t)
	file := exported(t)
	if err := sim.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	empty := names(t)
	if len(empty) > 0 {
		t.Errorf("a reset leaves %v", empty)
	}
	objects := &snapshot.Snapshot{}
	if err := json.Unmarshal(file, objects); err != nil {
		t.Fatal(err)
	}
	if err := sim.Import(t.Context(), objects, nil); err != nil {
		t.Fatal(err)
	}
	second := names(t)
	if !slices.Equal(first, second) || len(first) != 9 {
		t.Errorf("exported %v, imported %v", first, second)
	}
	if !strings.Contains(string(sim.SchedulerConfig()), "RegexScheduling") {
		t.Errorf("got configuration %s", sim.SchedulerConfig())
	}
}

func exported(t *testing.T) []byte {
	t.Helper()
	objects, err := sim.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"pods", "nodes", "pvs", "pvcs", "storageClasses", "priorityClasses", "schedulerConfig", "namespaces"} {
		if !strings.Contains(string(file), `"`+field+`":`) {
			t.Errorf("the export has no %s", field)
		}
	}
	return file
}

// names lists all that an export contains.
func names(t *testing.T) []string {
	t.Helper()
	s, err := sim.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	add := func(kind string, obj metav1.Object) { all = append(all, kind+" "+obj.GetNamespace()+"/"+obj.GetName()) }
	for i := range s.Pods {
		add("pod", &s.Pods[i])
	}
	for i := range s.Nodes {
		add("node", &s.Nodes[i])
	}
	for i := range s.PVs {
		add("pv", &s.PVs[i])
	}
	for i := range s.PVCs {
		add("pvc", &s.PVCs[i])
	}
	for i := range s.StorageClasses {
		add("storage class", &s.StorageClasses[i])
	}
	for i := range s.PriorityClasses {
		add("priority class", &s.PriorityClasses[i])
	}
	for i := range s.Namespaces {
		add("namespace", &s.Namespaces[i])
	}
	slices.Sort(all)
	return all
}

func TestBadConfigurationStopsAnImportBeforeItBegins(t *testing.T) {
	t.Cleanup(reset(t))
	objects := load(t)
	objects.SchedulerConfig = json.RawMessage(`{"profiles":[{"plugins":{"multiPoint":{"enabled":[{"name":"Nope"}]}}}]}`)
	err := sim.Import(t.Context(), objects, nil)
	if err == nil || !strings.Contains(err.Error(), "plugin Nope") || !strings.Contains(err.Error(), `"objects only" skips the configuration`) {
		t.Errorf("got %v", err)
	}
	left := names(t)
	if len(left) > 0 {
		t.Errorf("imported %v", left)
	}
}

func TestImportNamesTheObjectThatIsWrong(t *testing.T) {
	t.Cleanup(reset(t))
	objects := &snapshot.Snapshot{}
	if err := json.Unmarshal([]byte(`{"pods":[{"metadata":{"name":"p","namespace":"default"},"spec":{}}]}`), objects); err != nil {
		t.Fatal(err)
	}
	err := sim.Import(t.Context(), objects, nil)
	if err == nil || !strings.Contains(err.Error(), "import: pod default/p: ") || !strings.Contains(err.Error(), "spec.containers") {
		t.Errorf("got %v", err)
	}
}

// A name that comes back at once, whatever a user of the page or
// the API lets it.
func TestPodIsScheduledAfterEveryResetAndImport(t *testing.T) {
	use(t, "native")
	defer func() {
		if t.Failed() {
			node, err := sim.Client().CoreV1().Nodes().Get(context.Background(), "kubecon-1", metav1.GetOptions{})
			t.Logf("attempts %+v, node %+v, %v", sim.Recorder().Attempts("default", "p"), node.Status, err)
		}
	}()
	for round := range 4 {
		objects := &snapshot.Snapshot{
			Nodes: []v1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "kubecon-1"}}},
			Pods: []v1.Pod{{
				ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
				Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "c"}}},
			}},
		}
		for range 1 + round%2 { // now and then over what is there
			if err := sim.Import(t.Context(), objects, nil); err != nil {
				t.Fatal(err)
			}
		}
		attempt(t, "p", recorder.Scheduled)
		if err := sim.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestImportThatDoesNotSayHowLargeANodeIsLeavesItAsLarge(t *testing.T) {
	use(t, "native")
	addRoom(t, "kubecon-1")
	objects := &snapshot.Snapshot{Nodes: []v1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "kubecon-1", Labels: map[string]string{"new": "label"}}}}}
	if err := sim.Import(t.Context(), objects, nil); err != nil {
		t.Fatal(err)
	}
	node, err := sim.Client().CoreV1().Nodes().Get(t.Context(), "kubecon-1", metav1.GetOptions{})
	if err != nil || node.Labels["new"] != "label" || node.Status.Allocatable.Pods().Value() != 10 {
		t.Errorf("labels %v, allocatable %v, %v", node.Labels, node.Status.Allocatable, err)
	}
}

func TestDefaultPriorityClassCanBeImportedTwice(t *testing.T) {
	t.Cleanup(reset(t))
	for i, value := range []string{"7", "7"} {
		in := read(t, `{"priorityClasses":[{"metadata":{"name":"usual","labels":{"time":"`+strconv.Itoa(i)+`"}},"value":`+value+`,"globalDefault":true}]}`)
		if err := sim.Import(t.Context(), in, nil); err != nil {
			t.Fatalf("time %d: %v", i, err)
		}
	}
	class, err := sim.Client().SchedulingV1().PriorityClasses().Get(t.Context(), "usual", metav1.GetOptions{})
	if err != nil || !class.GlobalDefault || class.Labels["time"] != "1" {
		t.Errorf("it is %v, %v", class, err)
	}
}
