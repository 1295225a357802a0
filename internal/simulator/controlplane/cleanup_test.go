package controlplane

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

// What depends on something goes with it, by the controllers.
func TestWhatDependsOnADeletedObjectGoesWithIt(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	api := client.CoreV1().RESTClient()
	const pod = "metadata: {name: %s}\nspec: {nodeName: %q, containers: [{name: main, image: example.com/none}]}"
	objects.Post(t, api, "/api/v1/namespaces", "metadata: {name: fresh}")
	objects.Post(t, api, "/api/v1/namespaces/fresh/pods", fmt.Sprintf(pod, "web", "")) // at once
	owner := objects.Post(t, api, "/api/v1/namespaces/default/configmaps", "metadata: {name: owner}")
	objects.Post(t, api, "/api/v1/namespaces/default/configmaps", "metadata: {name: owned, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: "+string(owner.UID)+"}]}")
	objects.Post(t, api, "/api/v1/nodes", "metadata: {name: short-lived}")
	objects.Post(t, api, "/api/v1/namespaces/default/pods", fmt.Sprintf(pod, "orphan", "short-lived"))
	objects.Post(t, api, "/api/v1/namespaces/default/pods", fmt.Sprintf(pod, "unbound", ""))
	objects.Post(t, api, "/api/v1/namespaces/default/persistentvolumeclaims", "metadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}")
	for deleted, goes := range map[string]string{
		"/api/v1/namespaces/fresh": "/api/v1/namespaces/fresh", "/api/v1/namespaces/default/configmaps/owner": "/api/v1/namespaces/default/configmaps/owned",
		"/api/v1/nodes/short-lived":                              "/api/v1/namespaces/default/pods/orphan",
		"/api/v1/namespaces/default/persistentvolumeclaims/data": "/api/v1/namespaces/default/persistentvolumeclaims/data",
	} {
		testkit.Must(t, api.Delete().AbsPath(deleted).Do(t.Context()).Error())
		testkit.Eventually(t, goes+" goes", func(ctx context.Context) error {
			err := api.Get().AbsPath(goes).Do(ctx).Error()
			if !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is still there: %w", err)
			}
			return nil
		})
	}
	if err := client.CoreV1().Pods("default").Delete(t.Context(), "unbound", atOnce); err != nil {
		t.Errorf("the pod without a node: %v", err)
	}
}

func TestTerminatingPodsOfANodeThatIsOutOfServiceGo(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	api := client.CoreV1().RESTClient()
	objects.Post(t, api, "/api/v1/nodes", "metadata: {name: shut-down}")
	t.Cleanup(func() { removeNode(t, client, "shut-down") })
	for _, name := range []string{"terminating", "not-deleted"} {
		objects.Post(t, api, "/api/v1/namespaces/default/pods", fmt.Sprintf("metadata: {name: %s}\nspec: {nodeName: shut-down, containers: [{name: main, image: example.com/none}]}", name))
	}
	pods := client.CoreV1().Pods("default")
	testkit.Must(t, pods.Delete(t.Context(), "terminating", metav1.DeleteOptions{}))
	patchNode(t, client, "shut-down", `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoSchedule"}]}}`)
	testkit.EventuallyGone(t, "terminating", pods.Get, apierrors.IsNotFound)
	if err := pods.Delete(t.Context(), "not-deleted", atOnce); err != nil {
		t.Errorf("the pod that was not: %v", err)
	}
}

func TestAPodOfANodeThatIsGoneHasFailedByADisruption(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	api := client.CoreV1().RESTClient()
	pods := client.CoreV1().Pods("default")
	objects.Post(t, api, "/api/v1/nodes", "metadata: {name: gone-soon}")
	objects.Post(t, api, "/api/v1/namespaces/default/pods", "metadata: {name: kept-there, finalizers: [example.com/hold]}\nspec: {nodeName: gone-soon, containers: [{name: main, image: example.com/none}]}")
	testkit.Must(t, client.CoreV1().Nodes().Delete(t.Context(), "gone-soon", metav1.DeleteOptions{}))
	testkit.EventuallyIs(t, "kept-there", pods.Get, func(pod *v1.Pod) bool {
		_, disrupted := podutil.GetPodCondition(&pod.Status, v1.DisruptionTarget)
		return pod.Status.Phase == v1.PodFailed && disrupted != nil && disrupted.Reason == "DeletionByPodGC" && pod.DeletionTimestamp != nil
	})
	release(t, pods, "kept-there")
}

// release removes the finalizers of a pod.
func release(t *testing.T, pods typedv1.PodInterface, name string) {
	t.Helper()
	_, err := pods.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	testkit.Must(t, err)
}

func TestADeletedPodWithoutANodeThatAFinalizerKeepsHasFailed(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	pods := client.CoreV1().Pods("default")
	objects.Post(t, client.CoreV1().RESTClient(), "/api/v1/namespaces/default/pods", "metadata: {name: kept, finalizers: [example.com/hold]}\nspec: {containers: [{name: main, image: example.com/none}]}")
	testkit.Must(t, pods.Delete(t.Context(), "kept", metav1.DeleteOptions{}))
	testkit.EventuallyIs(t, "kept", pods.Get, func(pod *v1.Pod) bool { return pod.Status.Phase == v1.PodFailed })
	release(t, pods, "kept")
}

// atOnce leaves nothing to the next run of a test.
var atOnce = metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
