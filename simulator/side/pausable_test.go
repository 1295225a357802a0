package side

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// A pod that was pushed out for one must not be chosen for another: nothing tells that one
// when it is gone.
func TestNobodyIsPushedOutTwice(t *testing.T) {
	low := map[string]string{"is": "low"}
	pods := []v1.Pod{objects.PlainPod("high-1", "1"), objects.PlainPod("high-2", "1")}
	for i := range pods {
		pods[i].Spec.PriorityClassName = "high"
		pods[i].Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
			{LabelSelector: &metav1.LabelSelector{MatchLabels: low}, TopologyKey: v1.LabelHostname},
		}}}
	}
	for i := range 100 { // so many that the second attempt begins before they are gone
		pods = append(pods, objects.On(objects.PlainPod(fmt.Sprint("low-", i), "1m"), "node"))
		pods[len(pods)-1].Labels = low
	}
	result, err := Run(t.Context(), Options{
		Config: []byte("kind: KubeSchedulerConfiguration"), Pods: Pending, Seed: 1, Progress: func(string, int, int) {}, Warnings: t.Output(),
		Cluster: &snapshot.Snapshot{
			Nodes: []v1.Node{objects.PlainNode("node", "zone", "2")}, Pods: pods,
			PriorityClasses: []schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}},
			PodDisruptionBudgets: []policyv1.PodDisruptionBudget{{ // preemption waits until it is counted
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "none"},
				Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{}},
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"default/low-99": PushedOut, "default/high-1": "Scheduled", "default/high-2": "Scheduled"} {
		if is := result.Pod(KeyOf(name)); is.State != want {
			t.Errorf("%s is %s, after %d attempts: %s", name, is.State, is.Attempts, is.Message)
		}
	}
}
