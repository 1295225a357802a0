//go:build kubernetes_1_35

package controlplane

import (
	"context"

	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

// Claims is the controller of resource claims.
func Claims(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory) (*resourceclaim.Controller, error) {
	return resourceclaim.NewController(klog.FromContext(ctx), claimFeatures(), client, shared.Core().V1().Pods(), shared.Resource().V1().ResourceClaims(), shared.Resource().V1().ResourceClaimTemplates())
}

// Jobs is the controller of jobs.
func Jobs(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory) (*job.Controller, error) {
	return job.NewController(ctx, shared.Core().V1().Pods(), shared.Batch().V1().Jobs(), client)
}

// Quotas are how a quota's controller counts objects of each kind.
func Quotas(listers quota.ListerForResourceFunc, shared informers.SharedInformerFactory) (quota.Configuration, error) {
	return quotainstall.NewQuotaConfigurationForControllers(listers, shared), nil
}
