package controlplane

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// counted waits until a budget says how many pods there are to be, how many are
// well, and how many of these may go.
func counted(t *testing.T, client kubernetes.Interface, name string, expected, healthy, allowed int32) {
	t.Helper()
	eventually.Succeeds(t, "budget "+name, func(ctx context.Context) error {
		budget, err := client.PolicyV1().PodDisruptionBudgets("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if s := budget.Status; s.ExpectedPods != expected || s.CurrentHealthy != healthy || s.DisruptionsAllowed != allowed {
			return fmt.Errorf("%d expected, %d healthy, %d may go; want %d, %d, %d",
				s.ExpectedPods, s.CurrentHealthy, s.DisruptionsAllowed, expected, healthy, allowed)
		}
		return nil
	})
}

func TestABudgetCountsThePodsOfADeployment(t *testing.T) {
	client := clientOf(t, sharedCluster.AdminConfig())
	if _, err := client.AppsV1().Deployments("default").Create(t.Context(), deploymentOf("spared", 3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "spared"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromString("34%")), // of three that are two
			Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": "spared"}},
		},
	}
	if _, err := client.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), budget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	counted(t, client, "spared", 3, 0, 0)
	pods := client.CoreV1().Pods("default")
	for _, pod := range podsOf(t, client, "spared", 3) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		if _, err := pods.UpdateStatus(t.Context(), &pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	counted(t, client, "spared", 3, 3, 2)
	if err := client.AppsV1().Deployments("default").Delete(t.Context(), "spared", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	podsOf(t, client, "spared", 0)
	counted(t, client, "spared", 0, 0, 0)
	if err := client.PolicyV1().PodDisruptionBudgets("default").Delete(t.Context(), "spared", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
