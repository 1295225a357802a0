package simulator

import (
	"context"
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	poll "wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// addGreedyPod makes a pod that wants all the CPU of a node.
func addGreedyPod(t *testing.T, name, node, class string) {
	t.Helper()
	createPod(t, greedyPod(t, name, node, class))
}

// addGreedyPodOn makes one that is on that node already.
func addGreedyPodOn(t *testing.T, node string) {
	t.Helper()
	pod := greedyPod(t, "on-"+node, node, "")
	pod.Spec.NodeName = node
	createPod(t, pod)
}

func createPod(t *testing.T, pod *v1.Pod) {
	t.Helper()
	if _, err := sim.Client().CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func greedyPod(t *testing.T, name, node, class string) *v1.Pod {
	t.Helper()
	found, err := sim.Informers().Core().V1().Nodes().Lister().Get(node)
	if err != nil {
		t.Fatal(err)
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PodSpec{
			PriorityClassName: class,
			Containers: []v1.Container{{Name: "web", Image: "web", Resources: v1.ResourceRequirements{
				Requests: v1.ResourceList{v1.ResourceCPU: found.Status.Allocatable[v1.ResourceCPU]},
			}}},
		},
	}
}

func TestPodThatPreemptsAnotherNamesItAndTheNode(t *testing.T) {
	for _, variant := range []string{"native", "v1", "v2"} {
		t.Run(variant, func(t *testing.T) {
			use(t, variant)
			class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "first"}, Value: 1000}
			if _, err := sim.Client().SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			addNodes(t, "full")
			addGreedyPod(t, "low", "full", "")
			attempt(t, "low", recorder.Scheduled)
			addGreedyPod(t, "high", "full", "first")
			if last := attempt(t, "high", recorder.Scheduled); last.Preemption != nil {
				t.Errorf("the attempt that found a node: got %+v", last.Preemption)
			}
			defer func() {
				if t.Failed() {
					t.Log(postFilters("high"))
				}
			}()
			eventually(t, "an attempt names node and victim", func() bool { // which is reported beside the next attempt
				return slices.ContainsFunc(sim.Recorder().Attempts("default", "high"), func(a recorder.Attempt) bool {
					return a.Preemption != nil && a.Preemption.Node == "full" && slices.Equal(a.Preemption.Victims, []string{"default/low"})
				})
			})
			out, ok := sim.Recorder().Preempted("default", "low")
			if !ok || out.By != "default/high" || out.Node != "full" {
				t.Errorf("the victim: got %+v", out)
			}
			last := sim.Recorder().Attempts("default", "low")[0]
			if last.Preempted == nil || last.Preempted.By != "default/high" {
				t.Errorf("the victim's attempt: got %+v", last)
			}
		})
	}
}

// postFilters is what PostFilter did in each attempt for a pod.
func postFilters(pod string) (all string) {
	for _, a := range sim.Recorder().Attempts("default", pod) {
		all += fmt.Sprintf("\n#%d %s: PostFilter %+v, preemption %+v: %s", a.Number, a.Result, a.PostFilter, a.Preemption, a.Message)
	}
	return all
}

// However many full nodes there are, a pod preempts on the nodes that its regex matches, and only
// there: no victim on another node would make room for it, and it would preempt without end.
func TestPreemptionIsOnNodesThatTheRegexMatchesOnly(t *testing.T) {
	var queue func() string
	sim.prepare = func(s *scheduler.Scheduler) {
		queue = func() string { _, summary := s.SchedulingQueue.PendingPods(); return summary }
	}
	defer func() { sim.prepare = nil }()
	for _, variant := range []string{"native", "v1", "v2", "extender", "extender-names"} {
		t.Run(variant, func(t *testing.T) {
			use(t, variant)
			addClass(t, "first")
			nodes := []string{"node-1", "node-2", "node-3", "node-4", "node-5", "gpu-1"}
			addRoom(t, nodes...)
			for _, node := range nodes {
				addPodOf(t, "on-"+node, "^"+node+"$", "", "1")
				attempt(t, "on-"+node, recorder.Scheduled)
			}
			preemptions := func(pod string) (all []recorder.Preemption) {
				for _, a := range sim.Recorder().Attempts("default", pod) {
					if a.Preemption != nil {
						all = append(all, *a.Preemption)
					}
				}
				return all
			}
			defer func() {
				if t.Failed() {
					t.Log(postFilters("ghost"), postFilters("gpu"))
				}
			}()
			addPodOf(t, "ghost", "^ghost$", "first", "1")
			attempt(t, "ghost", recorder.Unschedulable)
			if got := preemptions("ghost"); len(got) > 0 {
				t.Fatalf("a pod that no node matches preempts: %+v", got)
			}
			addPodOf(t, "gpu", "^gpu-1$", "first", "1")
			attempt(t, "gpu", recorder.Scheduled)
			want := []string{"ghost ", "gpu gpu-1", "on-node-1 node-1", "on-node-2 node-2", "on-node-3 node-3", "on-node-4 node-4", "on-node-5 node-5"}
			// The end of the victim has made the scheduler try ghost again.
			poll.Succeeds(t, "the scheduler is at rest", func(ctx context.Context) error {
				list, err := sim.Client().CoreV1().Pods("").List(ctx, metav1.ListOptions{})
				if err != nil {
					return err
				}
				var pods []string
				for _, pod := range list.Items {
					pods = append(pods, pod.Name+" "+pod.Spec.NodeName)
				}
				slices.Sort(pods)
				pending := queue()
				if !slices.Equal(pods, want) || pending != "activeQ:0; backoffQ:0; unschedulablePods:1" {
					return fmt.Errorf("it has %s, and there are %q, want %q", pending, pods, want)
				}
				return nil
			})
			if got := preemptions("ghost"); len(got) > 0 {
				t.Errorf("a pod that no node matches preempts: %+v", got)
			}
			got := preemptions("gpu")
			if len(got) != 1 || got[0].Node != "gpu-1" || !slices.Equal(got[0].Victims, []string{"default/on-gpu-1"}) {
				t.Errorf("preempted for gpu: %+v, want one pod of gpu-1", got)
			}
		})
	}
}

// kube-scheduler is content with 100 candidates, and only then asks its extenders: the configuration must let
// it find them all.
func TestPreemptionConsidersEveryNodeOfALargeCluster(t *testing.T) {
	use(t, "extender-names")
	addClass(t, "first")
	nodes := make([]string, 240)
	for i := range nodes {
		nodes[i] = fmt.Sprintf("node-%03d", i)
	}
	makeNodes(t, nodes...)
	for _, node := range nodes {
		addGreedyPodOn(t, node)
	}
	if err := sim.ApplySchedulerConfig(t.Context(), sim.SchedulerConfig()); err != nil { // as addNodes
		t.Fatal(err)
	}
	for i := 0; i < len(nodes); i += 60 {
		pod := fmt.Sprint("first-", i)
		addPodOf(t, pod, "^"+nodes[i]+"$", "first", "1")
		attempt(t, pod, recorder.Scheduled)
		attempts := sim.Recorder().Attempts("default", pod)
		first := attempts[len(attempts)-1]
		if first.Preemption == nil || first.Preemption.Node != nodes[i] {
			t.Errorf("the first attempt of %s does not preempt on %s:%s", pod, nodes[i], postFilters(pod))
		}
	}
}
