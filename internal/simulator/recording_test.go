package simulator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// patience is how long a condition may take on a busy machine.
const patience = 5 * time.Minute

// eventually waits until a condition holds. It looks again whenever anything in
// the simulator changes.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	changes := sim.Changes(ctx)
	for !holds() {
		select {
		case <-changes:
		case <-ctx.Done():
			t.Fatalf("it did not come to pass: %s; there are\n%s", what, allThere())
		}
	}
}

// allThere has a line for each node and each pod.
func allThere() string {
	var lines strings.Builder
	core := sim.Informers().Core().V1()
	nodes, _ := core.Nodes().Lister().List(labels.Everything()) // a cache's lister has no errors
	for _, node := range nodes {
		fmt.Fprintf(&lines, "node %s %+v allocatable %v\n", node.Name, node.Spec, node.Status.Allocatable)
	}
	pods, _ := core.Pods().Lister().List(labels.Everything())
	for _, pod := range pods {
		fmt.Fprintf(&lines, "pod %s/%s on %q %+v", pod.Namespace, pod.Name, pod.Spec.NodeName, pod.Status)
		for _, a := range sim.Recorder().Attempts(pod.Namespace, pod.Name) {
			fmt.Fprintf(&lines, "; %d: %s %s %+v", a.Number, a.Result, a.Message, a.Preemption)
		}
		lines.WriteByte('\n')
	}
	return lines.String()
}

// use runs a test with a configuration, and leaves an empty simulator behind.
func use(t *testing.T, variant string) {
	t.Helper()
	config, err := SchedulerConfig(variant)
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.ApplySchedulerConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reset(t))
}

func reset(t *testing.T) func() {
	return func() {
		if err := sim.Reset(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// addNodes makes nodes, and returns once the scheduler knows them all.
func addNodes(t *testing.T, names ...string) {
	t.Helper()
	makeNodes(t, names...)
	// The scheduler hears of them in its own time, but begins with all there are.
	if err := sim.ApplySchedulerConfig(t.Context(), sim.SchedulerConfig()); err != nil {
		t.Fatal(err)
	}
}

// makeNodes makes nodes, for pending pods.
func makeNodes(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := sim.Client().CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the nodes have room", func() bool {
		for _, name := range names {
			node, err := sim.Informers().Core().V1().Nodes().Lister().Get(name)
			if err != nil || node.Status.Allocatable.Pods().IsZero() {
				return false
			}
		}
		return true
	})
}

func addPod(t *testing.T, name, pattern string) {
	t.Helper()
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{regex.Annotation: pattern}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "web", Image: "web"}}},
	}
	if _, err := sim.Client().CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// attempt waits for the newest attempt for a pod to have a result.
func attempt(t *testing.T, name string, result recorder.Result) recorder.Attempt {
	t.Helper()
	var last recorder.Attempt
	eventually(t, name+" is "+string(result), func() bool {
		attempts := sim.Recorder().Attempts("default", name)
		if len(attempts) > 0 {
			last = attempts[0]
		}
		return last.Result == result
	})
	return last
}

// columnOf finds a plugin's column.
func columnOf(t *testing.T, a recorder.Attempt, name string) int {
	t.Helper()
	for i, column := range a.Columns {
		if column.Name == name {
			return i
		}
	}
	t.Fatalf("no column %s in %+v", name, a.Columns)
	return -1
}

func TestWhyAPodIsWhereItIs(t *testing.T) {
	for variant, plugin := range map[string]string{"native": "RegexScheduling", "v1": "WasmRegexScheduling", "v2": "WasmRegexScheduling"} {
		t.Run(variant, func(t *testing.T) {
			use(t, variant)
			addNodes(t, "kubecon-1", "kubecon-2", "other")
			addPod(t, "there", "kubecon-")
			a := attempt(t, "there", recorder.Scheduled)
			if !strings.HasPrefix(a.Node, "kubecon-") || !strings.Contains(a.Message, a.Node) || a.Total != 3 || a.Duration <= 0 || a.Number != 1 {
				t.Errorf("got %+v", a)
			}
			rows := a.Nodes()
			if len(rows) != 3 || rows[0].Node != "other" || rows[0].Reason == "" || rows[1].Verdict != recorder.Passed {
				t.Fatalf("got rows %+v", rows)
			}
			column := columnOf(t, a, plugin)
			if verdict := a.Cell(a.Groups[0], column); verdict != recorder.Rejected && verdict != recorder.Excluded {
				t.Errorf("the plugin's cell for node other says %s", verdict)
			}
			verdict := a.Cell(a.Groups[1], column)
			if verdict != recorder.Passed {
				t.Errorf("the plugin's cell for node %s says %s", rows[1].Node, verdict)
			}
			for point, said := range map[string][]recorder.PluginVerdict{
				"NodeAffinity, PreScore": a.PreScore, "VolumeBinding, Reserve": a.Reserve,
				"VolumeBinding, PreBind": a.PreBind, "DefaultBinder, Bind": a.Bind,
			} {
				if !heard(said, point) {
					t.Errorf("%s: got %+v", point, said)
				}
			}
			scores := a.Scores()
			if len(scores) != 2 || scores[0].Total < scores[1].Total || len(scores[0].Cells) != len(a.ScoreColumns) || len(a.ScoreColumns) == 0 {
				t.Errorf("got scores %+v of %+v", scores, a.ScoreColumns)
			}
		})
	}
}

// heard reports whether a plugin passed a pod, or did not care about it.
func heard(said []recorder.PluginVerdict, of string) bool {
	name, _, _ := strings.Cut(of, ",")
	return slices.ContainsFunc(said, func(v recorder.PluginVerdict) bool {
		return v.Plugin == name && (v.Verdict == recorder.Passed || v.Verdict == recorder.Skipped)
	})
}

func TestRawScoresDifferFromNormalizedOnes(t *testing.T) {
	use(t, "native")
	addNodes(t, "a", "b")
	node, err := sim.Client().CoreV1().Nodes().Get(t.Context(), "b", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node.Spec.Taints = []v1.Taint{{Key: "k", Effect: v1.TaintEffectPreferNoSchedule}}
	if _, err := sim.Client().CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the taint is seen", func() bool {
		node, _ := sim.Informers().Core().V1().Nodes().Lister().Get("b")
		return len(node.Spec.Taints) > 0
	})
	if err := sim.ApplySchedulerConfig(t.Context(), sim.SchedulerConfig()); err != nil { // and by the scheduler, as in addNodes
		t.Fatal(err)
	}
	addPod(t, "p", "")
	a := attempt(t, "p", recorder.Scheduled)
	for i, column := range a.ScoreColumns {
		if column.Name != "TaintToleration" {
			continue
		}
		a1, b1 := a.Scores()[0], a.Scores()[1]
		if a1.Node != "a" || a1.Cells[i] != (recorder.Score{Raw: 0, Normalized: 100, Weighted: 300}) || b1.Cells[i] != (recorder.Score{Raw: 1}) {
			t.Errorf("got %+v and %+v", a1, b1)
		}
		return
	}
	t.Errorf("TaintToleration did not score: %+v", a.ScoreColumns)
}

func TestWhyAPodIsUnschedulable(t *testing.T) {
	for variant, plugin := range map[string]string{"native": "RegexScheduling", "v1": "WasmRegexScheduling", "v2": "WasmRegexScheduling"} {
		t.Run(variant+", with a single node", func(t *testing.T) {
			use(t, variant)
			addNodes(t, "node-1")
			addPod(t, "unmatched", "cncf-.*")
			a := attempt(t, "unmatched", recorder.Unschedulable)
			if !strings.HasPrefix(a.Message, "0/1 nodes are available") || a.Node != "" {
				t.Errorf("got %+v", a)
			}
			rows := a.Nodes()
			if len(rows) != 1 || rows[0].Node != "node-1" || rows[0].Column != columnOf(t, a, plugin) || rows[0].Reason == "" {
				t.Errorf("got rows %+v", rows)
			}
			if len(a.Scores()) > 0 {
				t.Errorf("got scores %+v", a.Scores())
			}
			said := a.PostFilter
			if said == nil || said.Plugin != "" || said.Verdict != recorder.Rejected || !strings.HasPrefix(said.Reason, "no new claims to deallocate, preemption: 0/1 nodes are available") {
				t.Errorf("PostFilter said %+v", said)
			}
		})
	}
}

func TestErrorIsRecordedAsOne(t *testing.T) {
	use(t, "v1") // whose Filter answers an invalid regex with an error
	addNodes(t, "node-1")
	addPod(t, "invalid", "(")
	a := attempt(t, "invalid", recorder.Failed)
	rows := a.Nodes()
	if len(rows) != 1 || rows[0].Verdict != recorder.Errored || !strings.Contains(rows[0].Reason, "missing closing )") {
		t.Errorf("got rows %+v", rows)
	}
	if !strings.Contains(a.Message, "missing closing )") {
		t.Errorf("got message %q", a.Message)
	}
}

func TestPreFilterThatRejectsIsNamed(t *testing.T) {
	use(t, "native")
	addNodes(t, "node-1")
	addPod(t, "invalid", "(")
	a := attempt(t, "invalid", recorder.Unschedulable)
	for _, verdict := range a.PreFilter {
		if verdict.Plugin == "RegexScheduling" && verdict.Verdict == recorder.Rejected && strings.Contains(verdict.Reason, "missing closing )") {
			return
		}
	}
	t.Errorf("got %+v", a.PreFilter)
}

func TestEachAttemptIsKept(t *testing.T) {
	use(t, "native")
	addPod(t, "p", "^late$")
	first := attempt(t, "p", recorder.Unschedulable)
	if first.Total != 0 || len(first.Nodes()) != 0 {
		t.Errorf("without nodes: got %+v", first)
	}
	makeNodes(t, "early")
	eventually(t, "a second attempt", func() bool { return len(sim.Recorder().Attempts("default", "p")) > 1 })
	makeNodes(t, "late")
	last := attempt(t, "p", recorder.Scheduled)
	all := sim.Recorder().Attempts("default", "p")
	if last.Node != "late" || last.Number != len(all) || all[0].ID != last.ID || all[len(all)-1].Number != 1 {
		t.Errorf("got %+v", all)
	}
	found, ok := sim.Recorder().Attempt("default", "p", all[1].ID)
	if !ok || found.Result != recorder.Unschedulable {
		t.Errorf("got %+v", found)
	}
}
