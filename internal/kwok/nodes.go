package kwok

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/applyconfigurations/coordination/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/kwok/pkg/log"
)

// kubelets reports for every node what its kubelet would: that it is Ready, and
// what room it has.
//
// RATIONALE.md, "Why does KWOK not write the status of nodes?", has the reason.
type kubelets struct {
	client kubernetes.Interface
	nodes  corelisters.NodeLister
	queue  workqueue.TypedRateLimitingInterface[string] // names
	logger *log.Logger
}

// retryAfter and retryAtMost bound the wait before the next try for a node.
const (
	retryAfter  = 20 * time.Millisecond
	retryAtMost = 5 * time.Second
)

// startKubelets returns once all nodes that exist are in the queue. The work
// goes on until ctx is done.
func startKubelets(ctx context.Context, client kubernetes.Interface, logger *log.Logger) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes()
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](retryAfter, retryAtMost)
	k := &kubelets{client, nodes.Lister(), workqueue.NewTypedRateLimitingQueue(limiter), logger}
	registration, err := nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    k.enqueue,
		UpdateFunc: func(_, node any) { k.enqueue(node) },
	})
	if err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	factory.Start(ctx.Done())
	context.AfterFunc(ctx, k.queue.ShutDown)
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return fmt.Errorf("watch nodes: %w", context.Cause(ctx))
	}
	for range parallelism {
		go k.work(ctx)
	}
	return nil
}

func (k *kubelets) enqueue(node any) { k.queue.Add(node.(*v1.Node).Name) }

func (k *kubelets) work(ctx context.Context) {
	for {
		name, shutdown := k.queue.Get()
		if shutdown {
			return
		}
		k.next(ctx, name)
		k.queue.Done(name)
	}
}

func (k *kubelets) next(ctx context.Context, name string) {
	err := k.report(ctx, name)
	if err == nil {
		k.queue.Forget(name)
		return
	}
	if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) { // those say that it has changed, or gone
		k.logger.Error("Failed to report the status of a node, trying again", err, "node", name)
	}
	k.queue.AddRateLimited(name)
}

// report completes the status of a node, if there is such a node. The lease comes
// first: a node whose status is complete is not looked at again.
func (k *kubelets) report(ctx context.Context, name string) error {
	node, err := k.nodes.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || isComplete(node) {
		return err
	}
	if err := k.lease(ctx, node); err != nil {
		return err
	}
	node = node.DeepCopy()
	complete(node)
	_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

// lease makes the lease that "kubectl describe node" looks for, or takes over
// that of a predecessor. It is not renewed: nobody acts on one that ran out.
func (k *kubelets) lease(ctx context.Context, node *v1.Node) error {
	lease := coordination.Lease(node.Name, v1.NamespaceNodeLease).
		WithOwnerReferences(metav1apply.OwnerReference().WithAPIVersion("v1").WithKind("Node").WithName(node.Name).WithUID(node.UID)).
		WithSpec(coordination.LeaseSpec().WithHolderIdentity(node.Name).WithLeaseDurationSeconds(leaseSeconds).WithRenewTime(metav1.NowMicro()))
	_, err := k.client.CoordinationV1().Leases(v1.NamespaceNodeLease).Apply(ctx, lease, metav1.ApplyOptions{FieldManager: "kwok", Force: true})
	return err
}
