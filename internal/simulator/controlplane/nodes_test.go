package controlplane

import (
	"context"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

func TestNodesAreTaintedWhileTheyAreCordonedOrNotReady(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	for _, name := range []string{"sick", "well"} { // if all were not ready, none would be tainted
		if _, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { removeNode(t, client, name) })
		patchNode(t, client, name, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, "status")
	}
	for _, step := range []struct {
		patch       string
		subresource []string
		taints      []string
	}{
		{`{"spec":{"unschedulable":true}}`, nil, []string{"node.kubernetes.io/unschedulable:NoSchedule"}},
		{`{"spec":{"unschedulable":false}}`, nil, nil},
		{`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, []string{"status"}, []string{"node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/not-ready:NoSchedule"}},
		{`{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`, []string{"status"}, []string{"node.kubernetes.io/unreachable:NoExecute", "node.kubernetes.io/unreachable:NoSchedule"}},
		{`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, []string{"status"}, nil},
	} {
		patchNode(t, client, "sick", step.patch, step.subresource...)
		eventually.Succeeds(t, "taints after "+step.patch, func(ctx context.Context) error {
			node, err := client.CoreV1().Nodes().Get(ctx, "sick", metav1.GetOptions{})
			if err != nil {
				return err
			}
			var taints []string
			for _, taint := range node.Spec.Taints {
				taints = append(taints, taint.Key+":"+string(taint.Effect))
			}
			slices.Sort(taints)
			if !slices.Equal(taints, step.taints) {
				return fmt.Errorf("%v, want %v", taints, step.taints)
			}
			return nil
		})
	}
}

func removeNode(t *testing.T, client kubernetes.Interface, name string) {
	testkit.Must(t, client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}))
}

func patchNode(t *testing.T, client kubernetes.Interface, name, patch string, subresource ...string) {
	t.Helper()
	if _, err := client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...); err != nil {
		t.Fatal(err)
	}
}

func TestQuotaLimitsThePodsOfADeployment(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "with-quota-"}}, metav1.CreateOptions{})
	testkit.Must(t, err)
	ns := namespace.Name
	used := func(ctx context.Context, want int64) error {
		quota, err := client.CoreV1().ResourceQuotas(ns).Get(ctx, "two", metav1.GetOptions{})
		if err == nil && (quota.Status.Hard.Pods().Value() != 2 || quota.Status.Used.Pods().Value() != want) {
			err = fmt.Errorf("%v used of %v", quota.Status.Used, quota.Status.Hard)
		}
		return err
	}
	post(t, client.CoreV1().RESTClient(), "/api/v1/namespaces/"+ns+"/resourcequotas", "metadata: {name: two}\nspec: {hard: {pods: 2}}")
	eventually.Succeeds(t, "the quota is counted", func(ctx context.Context) error { return used(ctx, 0) })
	post(t, client.CoreV1().RESTClient(), "/apis/apps/v1/namespaces/"+ns+"/deployments", `
metadata: {name: web}
spec: {replicas: 5, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: example.com/none}]}}}`)
	eventually.Succeeds(t, "the deployment has as many pods as the quota allows", func(ctx context.Context) error {
		d, err := client.AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{})
		if err == nil && !slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue && d.Status.Replicas == 2
		}) {
			err = fmt.Errorf("%+v", d.Status)
		}
		return err
	})
	testkit.Must(t, client.CoreV1().Pods(ns).DeleteCollection(t.Context(), atOnce, metav1.ListOptions{}))
	eventually.Succeeds(t, "pods that are gone leave room", func(ctx context.Context) error { return used(ctx, 2) })
}
