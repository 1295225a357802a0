package controlplane

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

func TestNodesAreTaintedWhileTheyAreCordonedOrNotReady(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	for _, name := range []string{"sick", "well"} { // if all were not ready, none would be tainted
		objects.Post(t, client.CoreV1().RESTClient(), "/api/v1/nodes", "metadata: {name: "+name+"}")
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
		testkit.EventuallyIs(t, "sick", client.CoreV1().Nodes().Get, func(node *corev1.Node) bool {
			var taints []string
			for _, taint := range node.Spec.Taints {
				taints = append(taints, taint.Key+":"+string(taint.Effect))
			}
			slices.Sort(taints)
			return slices.Equal(taints, step.taints)
		})
	}
}

func removeNode(t *testing.T, client kubernetes.Interface, name string) {
	testkit.Must(t, client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}))
}

func patchNode(t *testing.T, client kubernetes.Interface, name, patch string, subresource ...string) {
	t.Helper()
	_, err := client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...)
	testkit.Must(t, err)
}

func TestQuotaLimitsThePodsOfADeployment(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "with-quota-"}}, metav1.CreateOptions{})
	testkit.Must(t, err)
	ns := namespace.Name
	used := func(want int64) {
		testkit.EventuallyIs(t, "two", client.CoreV1().ResourceQuotas(ns).Get, func(quota *corev1.ResourceQuota) bool {
			return quota.Status.Hard.Pods().Value() == 2 && quota.Status.Used.Pods().Value() == want
		})
	}
	objects.Post(t, client.CoreV1().RESTClient(), "/api/v1/namespaces/"+ns+"/resourcequotas", "metadata: {name: two}\nspec: {hard: {pods: 2}}")
	used(0)
	objects.Post(t, client.CoreV1().RESTClient(), "/apis/apps/v1/namespaces/"+ns+"/deployments", `
metadata: {name: web}
spec: {replicas: 5, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: example.com/none}]}}}`)
	testkit.EventuallyIs(t, "web", client.AppsV1().Deployments(ns).Get, func(d *appsv1.Deployment) bool {
		return d.Status.Replicas == 2 && slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue
		})
	})
	testkit.Must(t, client.CoreV1().Pods(ns).DeleteCollection(t.Context(), atOnce, metav1.ListOptions{}))
	used(2) // pods that are gone leave room
}
