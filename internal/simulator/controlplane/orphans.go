package controlplane

import (
	"context"
	"time"

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

// deleteOrphans is a loop that deletes pods whose node is gone, for good and at once:
// the kubelet that would end them went with the node. Upstream's pod garbage collector
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
			node := pod.Spec.NodeName
			if _, err := nodes.Get(node); err == nil || node == "" {
				continue
			}
			_, asked := missing[node]
			if !asked { // the cache may be behind that of pods
				_, err := client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
				missing[node] = apierrors.IsNotFound(err)
			}
			if !missing[node] || !suspects[node] {
				continue
			}
			err := client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
				GracePeriodSeconds: ptr.To[int64](0),
				Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
			})
			if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				klog.ErrorS(err, "Delete pod of a node that is gone", "pod", klog.KObj(pod), "node", node)
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
