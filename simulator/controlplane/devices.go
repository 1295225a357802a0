package controlplane

import (
	"context"

	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
	"k8s.io/kubernetes/pkg/features"
)

// newDeviceClaims is the controller of ResourceClaims. Kube-scheduler reserves
// devices for pods, and this gives them back; it also makes claims of templates.
func newDeviceClaims(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory) (*resourceclaim.Controller, error) {
	gates := resourceclaim.Features{
		AdminAccess:     feature.DefaultFeatureGate.Enabled(features.DRAAdminAccess),
		PrioritizedList: feature.DefaultFeatureGate.Enabled(features.DRAPrioritizedList),
	}
	return claimController(klog.FromContext(ctx), gates, client, shared)
}
