//go:build !kubernetes_1_35

package controlplane

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
)

func claimController(log klog.Logger, gates resourceclaim.Features, client kubernetes.Interface, shared informers.SharedInformerFactory) (*resourceclaim.Controller, error) {
	return resourceclaim.NewController(log, gates, client, shared.Core().V1().Pods(), shared.Scheduling().V1alpha2().PodGroups(),
		shared.Resource().V1().ResourceClaims(), shared.Resource().V1().ResourceClaimTemplates())
}

// jobController gets no informers of workloads and pod groups: it makes these only
// with an alpha feature.
func jobController(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory) (*job.Controller, error) {
	return job.NewController(ctx, client, shared.Core().V1().Pods(), shared.Batch().V1().Jobs(), nil, nil)
}
