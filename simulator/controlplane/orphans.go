package controlplane

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

const orphanPeriod = 2 * time.Second

// orphanPods deletes pods whose node is gone, for good and at once: the kubelet
// that would end them went with the node. Upstream's pod garbage collector does
// the same after a minute, and would bring the kubelet's dependencies along.
type orphanPods struct {
	client kubernetes.Interface
	pods   corelisters.PodLister
	nodes  corelisters.NodeLister
	synced []cache.InformerSynced
	// suspects are the nodes that the last round missed. A node's absence from
	// the cache counts on the second round, when the cache had time to catch up
	// with a node that was made just before its pod.
	suspects map[string]bool
}

func newOrphanPods(client kubernetes.Interface, core coreinformers.Interface) *orphanPods {
	return &orphanPods{
		client: client,
		pods:   core.Pods().Lister(),
		nodes:  core.Nodes().Lister(),
		synced: []cache.InformerSynced{core.Pods().Informer().HasSynced, core.Nodes().Informer().HasSynced},
	}
}

func (o *orphanPods) Run(ctx context.Context) {
	if cache.WaitForCacheSync(ctx.Done(), o.synced...) {
		wait.UntilWithContext(ctx, o.round, orphanPeriod)
	}
}

func (o *orphanPods) round(ctx context.Context) {
	pods, _ := o.pods.List(labels.Everything()) // a cache's lister has no errors
	missing := map[string]bool{}
	for _, pod := range pods {
		name := pod.Spec.NodeName
		if name == "" {
			continue
		}
		if _, err := o.nodes.Get(name); err == nil {
			continue
		}
		missing[name] = true
		if o.suspects[name] {
			o.remove(ctx, pod)
		}
	}
	o.suspects = missing
}

func (o *orphanPods) remove(ctx context.Context, pod *corev1.Pod) {
	err := o.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		klog.ErrorS(err, "Delete pod of a node that is gone", "pod", klog.KObj(pod), "node", pod.Spec.NodeName)
	}
}
