//go:build kubernetes_1_37 || kubernetes_1_38

package podgroups

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/anonymize"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/capture"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/testsim"
)

// sim is there for all tests; each leaves it empty.
var sim *simulator.Simulator

func TestMain(m *testing.M) {
	testsim.Main(m, &sim, simulator.Config{Variant: "none", PodGroups: true, Warnings: os.Stderr})
}

func nodeOf(name, cpu string) v1.Node { return objects.PlainNode(name, "a", cpu) }

// podOf asks for a CPU.
func podOf(name string) v1.Pod { return objects.PlainPod(name, "1") }

// gang is a PodGroup called train whose pods start all or none, and the first of them.
func gang(minCount, pods int) (group schedulingv1beta1.PodGroup, members []v1.Pod) {
	group.Namespace, group.Name = "default", "train"
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(minCount)}
	for i := range pods {
		pod := podOf(fmt.Sprint("train-", i+1))
		pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: ptr.To("train")}
		members = append(members, pod)
	}
	return group, members
}

// crowded has three pods on two nodes for two each, and a gang of three that may preempt
// them: two have to go.
func crowded() (objects *snapshot.Snapshot, group schedulingv1beta1.PodGroup, members []v1.Pod) {
	group, members = gang(3, 3)
	group.Spec.PriorityClassName = "high"
	objects = &snapshot.Snapshot{
		Nodes:           []v1.Node{nodeOf("node-1", "2"), nodeOf("node-2", "2")},
		PriorityClasses: []schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}},
	}
	for i := range members {
		members[i].Spec.PriorityClassName = "high"
		objects.Pods = append(objects.Pods, podOf(fmt.Sprint("low-", i)))
	}
	return objects, group, members
}

// fill puts objects into the simulator, and empties it after the test.
func fill(t *testing.T, objects *snapshot.Snapshot) {
	t.Helper()
	t.Cleanup(func() { testkit.Must(t, sim.Reset(context.Background())) })
	testkit.Must(t, sim.Import(t.Context(), objects, nil))
}

// places are the nodes of the pods that have one.
func places(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	pods, err := sim.Client().CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	testkit.Must(t, err)
	nodes := map[string]string{}
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != "" {
			nodes[pod.Name] = pod.Spec.NodeName
		}
	}
	return nodes
}

// placed waits until so many pods have a node.
func placed(t *testing.T, want int) (nodes map[string]string) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprint(want, " pods have a node"), func(ctx context.Context) error {
		nodes = places(ctx, t)
		if len(nodes) != want {
			return fmt.Errorf("these have one: %v", nodes)
		}
		return nil
	})
	return nodes
}

// attemptsOf waits until so many pods of the gang have a result,
// and returns their attempts in the first cycle.
func attemptsOf(t *testing.T, pods int) (first []recorder.Attempt) {
	t.Helper()
	testkit.Eventually(t, "every pod has an attempt that has ended", func(context.Context) error {
		first = nil
		for i := range pods {
			all := sim.Recorder().Attempts("default", fmt.Sprint("train-", i+1))
			if len(all) == 0 || all[len(all)-1].Result == recorder.Pending {
				return fmt.Errorf("train-%d: %+v", i+1, all)
			}
			first = append(first, all[len(all)-1])
		}
		return nil
	})
	return first
}

// shown is what the page has at a path.
func shown(t *testing.T, path string) string {
	t.Helper()
	pages, err := page.New(t.Context(), sim)
	testkit.Must(t, err)
	answer := httptest.NewRecorder()
	pages.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
	return answer.Body.String()
}

func TestGangThatDoesNotFitLeavesNoPodBehind(t *testing.T) {
	const reason = "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"
	group, pods := gang(3, 3)
	fill(t, &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("node-1", "1")}, PodGroups: []schedulingv1beta1.PodGroup{group}, Pods: pods})
	attempts, fit, untried := attemptsOf(t, 3), 0, 0
	for _, a := range attempts {
		if a.Result != recorder.Unschedulable || a.Node != "" || a.Number != 1 || a.Message == "" {
			t.Errorf("%s: attempt %d is %s on %q: %s", a.Name, a.Number, a.Result, a.Node, a.Message)
		}
		if a.Fits == "node-1" {
			fit++
		} else if a.Total == 0 && strings.Contains(a.Message, reason) {
			untried++
		}
		g, first := a.PodGroup, attempts[0].PodGroup
		if g == nil || *g != *first || g.Name != "default/train" || g.Pods != 3 || g.Fit != 1 || !strings.Contains(g.Reason, reason) {
			t.Errorf("%s was tried with %+v, the first with %+v", a.Name, g, first)
		}
	}
	if fit != 1 || untried != 1 {
		t.Errorf("%d pods have a node that would do, %d were not tried", fit, untried)
	}
	nodes := places(t.Context(), t)
	if len(nodes) > 0 {
		t.Errorf("pods were left behind: %v", nodes)
	}
	testkit.Eventually(t, "the page shows them as one", func(context.Context) error {
		overview := shown(t, "/")
		if strings.Count(overview, "<b>PodGroup default/train is pending</b>") != 1 || !strings.Contains(overview, reason) && !strings.Contains(overview, "0/1 nodes are available: 1 Insufficient cpu.") {
			return fmt.Errorf("the PodGroup is not there once, with its reason: %s", overview)
		}
		return nil
	})
	own := shown(t, "/pods/default/train-1")
	if !strings.Contains(own, "<b>PodGroup default/train</b> was scheduled as a unit: 1 of 3 pods fit, so all of them stay pending") {
		t.Errorf("the pod shows %s", own)
	}

	fill(t, &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("node-2", "2")}})
	placed(t, 3)
	testkit.Eventually(t, "the last attempts have ended", func(context.Context) error {
		for i := range pods {
			a := sim.Recorder().Attempts("default", pods[i].Name)[0]
			if a.Result != recorder.Scheduled || a.PodGroup == nil || a.PodGroup.Fit != 3 || a.PodGroup.Reason != "" {
				return fmt.Errorf("%s: %s with %+v", a.Name, a.Result, a.PodGroup)
			}
		}
		return nil
	})
}

func TestGangThatIsNotCompleteIsNotTried(t *testing.T) {
	group, pods := gang(3, 3)
	// The last is queued behind those of the gang.
	fill(t, &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("node-1", "9")}, PodGroups: []schedulingv1beta1.PodGroup{group}, Pods: pods[:2]})
	fill(t, &snapshot.Snapshot{Pods: []v1.Pod{podOf("other")}})
	nodes := placed(t, 1)
	if nodes["other"] == "" {
		t.Errorf("these have a node: %v", nodes)
	}
	for _, pod := range pods[:2] {
		attempts := sim.Recorder().Attempts("default", pod.Name)
		if len(attempts) > 0 {
			t.Errorf("%s was tried: %+v", pod.Name, attempts)
		}
		own := shown(t, "/pods/default/"+pod.Name)
		if !strings.Contains(own, "PodGroup default/train is pending") || !strings.Contains(own, "has as many pods as its minCount") {
			t.Errorf("%s shows %s", pod.Name, own)
		}
	}
	fill(t, &snapshot.Snapshot{Pods: pods[2:]})
	placed(t, 4)
}

// Preemption tries all pods of the gang, for each set of pods that it might preempt.
func TestWhatPreemptionTriesIsNoAttempt(t *testing.T) {
	objects, group, pods := crowded()
	fill(t, objects)
	placed(t, 3)
	fill(t, &snapshot.Snapshot{PodGroups: []schedulingv1beta1.PodGroup{group}, Pods: pods})
	var nodes map[string]string
	testkit.Eventually(t, "the gang has preempted others", func(ctx context.Context) error {
		nodes = places(ctx, t)
		if nodes["train-1"] == "" || nodes["train-2"] == "" || nodes["train-3"] == "" {
			return fmt.Errorf("these have a node: %v", nodes)
		}
		return nil
	})
	low := len(slices.DeleteFunc(slices.Collect(maps.Keys(nodes)), func(name string) bool { return !strings.HasPrefix(name, "low") }))
	if low != 1 {
		t.Errorf("%d of the others are left: %v", low, nodes)
	}
	var by string // the first that was tried
	testkit.Eventually(t, "it is known who preempted them", func(context.Context) error {
		by = ""
		for i := range 3 {
			name := fmt.Sprint("low-", i)
			out, known := sim.Recorder().Preempted("default", name)
			if known != (nodes[name] == "") || known && (out.Node == "" || by != "" && out.By != by) {
				return fmt.Errorf("%s, as the one before by %q: %+v", name, by, out)
			}
			by = cmp.Or(out.By, by)
		}
		return nil
	})
	attempts := sim.Recorder().Attempts("default", strings.TrimPrefix(by, "default/"))
	if len(attempts) == 0 {
		t.Fatalf("preempted by %q", by)
	}
	first := attempts[len(attempts)-1]
	own := shown(t, fmt.Sprintf("/pods/%s/attempts/%d", by, first.ID))
	if !strings.Contains(own, "preempts 2 pods for the PodGroup:") {
		t.Errorf("the first of its attempts, %+v, shows %s", first.Preemption, own)
	}
	testkit.Eventually(t, "every pod has one attempt in a cycle", func(context.Context) error {
		for i := range pods {
			cycles := map[time.Time]bool{}
			attempts := sim.Recorder().Attempts("default", pods[i].Name)
			for _, a := range attempts {
				if a.Result == recorder.Pending || a.PodGroup == nil || cycles[a.PodGroup.Time] {
					return fmt.Errorf("%s: attempt %d is %s with %+v", a.Name, a.Number, a.Result, a.PodGroup)
				}
				cycles[a.PodGroup.Time] = true
			}
			if len(attempts) < 2 || attempts[0].Result != recorder.Scheduled || attempts[len(attempts)-1].PodGroup.Note() == "" {
				return fmt.Errorf("%s: %d attempts", pods[i].Name, len(attempts))
			}
		}
		return nil
	})
}

func TestCopyHasThePodGroups(t *testing.T) {
	group, pods := gang(2, 2)
	waiting, more := gang(2, 2)
	waiting.Name = "waiting"
	for i := range more {
		more[i].Name = "waiting-" + fmt.Sprint(i)
		more[i].Spec.SchedulingGroup.PodGroupName = ptr.To("waiting")
	}
	wait := func() {
		t.Helper()
		testkit.Eventually(t, "the others wait", func(context.Context) error {
			for i := range more {
				all := sim.Recorder().Attempts("default", more[i].Name)
				if len(all) == 0 || all[0].Result != recorder.Unschedulable || all[0].PodGroup.Note() == "" {
					return fmt.Errorf("%s: %+v", more[i].Name, all)
				}
			}
			return nil
		})
	}
	fill(t, &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("node-1", "2"), nodeOf("node-2", "1")}, PodGroups: []schedulingv1beta1.PodGroup{group}, Pods: pods})
	before := placed(t, 2)
	fill(t, &snapshot.Snapshot{PodGroups: []schedulingv1beta1.PodGroup{waiting}, Pods: more})
	wait()
	captured, err := capture.Read(t.Context(), capture.Options{Kubeconfig: sim.Kubeconfig()})
	testkit.Must(t, err)
	testkit.Must(t, digest.Snapshot(captured, nil))
	var file bytes.Buffer
	testkit.Must(t, captured.WriteYAML(&file))
	again, notices, err := snapshot.Read(&file)
	if err != nil || len(notices) > 0 || len(again.PodGroups) != 2 || len(again.OneByOne()) > 0 {
		t.Fatalf("read with %v, %v: %v", notices, err, again.PodGroups)
	}
	testkit.Must(t, sim.Reset(t.Context()))
	groups, err := sim.Client().SchedulingV1beta1().PodGroups("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(groups.Items) > 0 {
		t.Fatalf("after the reset: %v, %v", groups.Items, err)
	}
	fill(t, again)
	after := placed(t, 2)
	if !maps.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
	wait()

	anonymize.Snapshot(again, nil)
	names := map[string]int{}
	for _, pod := range again.Pods {
		names[*pod.Spec.SchedulingGroup.PodGroupName]++
	}
	for _, group := range again.PodGroups {
		if names[group.Name] != 2 || group.Name == "train" {
			t.Errorf("with names replaced: %s of %v", group.Name, names)
		}
	}
	again.PodGroups = nil
	n := again.OneByOne()
	if len(n) != 2 || n[0].Reason != "no PodGroup is with them" {
		t.Errorf("without PodGroups: %v", n)
	}
}
