package simulator

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/recorder"
)

// addGreedyPod makes a pod that wants all the CPU of a node.
func addGreedyPod(t *testing.T, name, node, class string) {
	t.Helper()
	found, err := sim.Informers().Core().V1().Nodes().Lister().Get(node)
	if err != nil {
		t.Fatal(err)
	}
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PodSpec{
			PriorityClassName: class,
			Containers: []v1.Container{{Name: "web", Image: "web", Resources: v1.ResourceRequirements{
				Requests: v1.ResourceList{v1.ResourceCPU: found.Status.Allocatable[v1.ResourceCPU]},
			}}},
		},
	}
	if _, err := sim.Client().CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestAPodThatPreemptsAnotherNamesItAndTheNode(t *testing.T) {
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
			if last := sim.Recorder().Attempts("default", "low")[0]; last.Preempted == nil || last.Preempted.By != "default/high" {
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
