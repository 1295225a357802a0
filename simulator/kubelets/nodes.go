package kubelets

import (
	"context"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/applyconfigurations/coordination/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// leaseSeconds is what the lease of a node says, a day: see lease.
const leaseSeconds = 24 * 60 * 60

// reportNode completes the status of a node, if there is such a node: that it is
// Ready, and what room it has. The lease comes first: a node whose status is
// complete is not looked at again.
func (k *kubelets) reportNode(ctx context.Context, name cache.ObjectName) error {
	node, err := k.nodes.Get(name.Name)
	if err != nil || isComplete(node) {
		return nil // or it is gone
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
	_, err := k.client.CoordinationV1().Leases(v1.NamespaceNodeLease).Apply(ctx, lease, metav1.ApplyOptions{FieldManager: "kubelets", Force: true})
	return err
}
