package controlplane

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"
)

const orphanPeriod = 2 * time.Second

// deleteOrphans is a loop that deletes for good, and at once, pods that no kubelet will end: their node is gone, they are
// Terminating on a node that is out of service, or a finalizer kept them before they had a node. Upstream's pod garbage collector
// does the same after a minute, and would bring the kubelet's dependencies along. As with that, one that a finalizer still keeps
// has failed, and so makes room for its successor.
func deleteOrphans(client kubernetes.Interface, core coreinformers.Interface) func(context.Context) {
	allPods, nodes := core.Pods().Lister(), core.Nodes().Lister()
	synced := []cache.InformerSynced{core.Pods().Informer().HasSynced, core.Nodes().Informer().HasSynced}
	// A node's absence counts on the second round: one that is replaced keeps its pods.
	suspects := map[string]bool{}
	round := func(ctx context.Context) {
		pods, _ := allPods.List(labels.Everything()) // a cache's lister has no errors
		missing := map[string]bool{}
		isOrphan := func(pod *corev1.Pod) bool {
			name := pod.Spec.NodeName
			if name == "" {
				return pod.DeletionTimestamp != nil
			}
			node, err := nodes.Get(name)
			if err == nil {
				return pod.DeletionTimestamp != nil && outOfService(node)
			}
			_, asked := missing[name]
			if !asked { // the cache may be behind that of pods
				_, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
				missing[name] = apierrors.IsNotFound(err)
			}
			return missing[name] && suspects[name]
		}
		for _, pod := range pods {
			ended := podutil.IsPodTerminal(pod)
			kept := ended && pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0
			if kept || !isOrphan(pod) {
				continue
			}
			var err error
			if !ended {
				_, err = client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, failed(pod, missing[pod.Spec.NodeName]), metav1.PatchOptions{}, "status")
			}
			if err == nil {
				err = client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
					GracePeriodSeconds: ptr.To[int64](0),
					Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
				})
			}
			if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				klog.ErrorS(err, "Delete pod that no kubelet ends", "pod", klog.KObj(pod), "node", pod.Spec.NodeName)
			}
		}
		suspects = missing
	}
	return func(ctx context.Context) {
		if cache.WaitForCacheSync(ctx.Done(), synced...) {
			wait.UntilWithContext(ctx, round, orphanPeriod)
		}
	}
}

// failed is a patch by which a pod has failed, by a disruption if its node is gone, as of upstream's pod garbage collector.
func failed(pod *corev1.Pod, orphaned bool) []byte {
	status := map[string]any{"phase": corev1.PodFailed}
	if orphaned {
		status["conditions"] = []corev1.PodCondition{{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(), Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists",
		}}
	}
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status}) // which is JSON
	return patch
}

// outOfService reports whether a person has said that a node that is not ready is shut down.
func outOfService(node *corev1.Node) bool {
	ready := func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}
	said := func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService }
	return !slices.ContainsFunc(node.Status.Conditions, ready) && slices.ContainsFunc(node.Spec.Taints, said)
}
