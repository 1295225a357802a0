//go:build !kubernetes_1_35 && !kubernetes_1_37 && !kubernetes_1_38

package controlplane

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
)

// Claims is the controller of resource claims.
func Claims(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory) (*resourceclaim.Controller, error) {
	return resourceclaim.NewController(klog.FromContext(ctx), claimFeatures(), client, shared.Core().V1().Pods(), shared.Scheduling().V1alpha2().PodGroups(),
		shared.Resource().V1().ResourceClaims(), shared.Resource().V1().ResourceClaimTemplates())
}
