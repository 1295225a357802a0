package controlplane

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

const orphanPeriod = 2 * time.Second

// deleteOrphans is a loop that deletes pods whose node is gone, or that are Terminating on a node that is out of
// service, for good and at once: no kubelet would end them. Upstream's pod garbage collector
// does the same after a minute, and would bring the kubelet's dependencies along.
func deleteOrphans(client kubernetes.Interface, core coreinformers.Interface) func(context.Context) {
	allPods, nodes := core.Pods().Lister(), core.Nodes().Lister()
	synced := []cache.InformerSynced{core.Pods().Informer().HasSynced, core.Nodes().Informer().HasSynced}
	// A node's absence counts on the second round: one that is replaced keeps its pods.
	suspects := map[string]bool{}
	round := func(ctx context.Context) {
		pods, _ := allPods.List(labels.Everything()) // a cache's lister has no errors
		missing := map[string]bool{}
		for _, pod := range pods {
			name := pod.Spec.NodeName
			node, err := nodes.Get(name)
			if name == "" || err == nil && (pod.DeletionTimestamp == nil || !outOfService(node)) {
				continue
			}
			_, asked := missing[name]
			if err != nil && !asked { // the cache may be behind that of pods
				_, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
				missing[name] = apierrors.IsNotFound(err)
			}
			if err != nil && (!missing[name] || !suspects[name]) {
				continue
			}
			err = client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
				GracePeriodSeconds: ptr.To[int64](0),
				Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
			})
			if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				klog.ErrorS(err, "Delete pod of a node that is gone or out of service", "pod", klog.KObj(pod), "node", name)
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

// outOfService reports whether a person has said that a node that is not ready is shut down.
func outOfService(node *corev1.Node) bool {
	ready := func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}
	said := func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService }
	return !slices.ContainsFunc(node.Status.Conditions, ready) && slices.ContainsFunc(node.Spec.Taints, said)
}
