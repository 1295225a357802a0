//go:build kubernetes_1_38

package controlplane

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
)

// ClusterRoles is the controller of ClusterRoles that are made of others.
func ClusterRoles(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory) *clusterroleaggregation.ClusterRoleAggregationController {
	return clusterroleaggregation.NewClusterRoleAggregation(ctx, shared.Rbac().V1().ClusterRoles(), client.RbacV1())
}
