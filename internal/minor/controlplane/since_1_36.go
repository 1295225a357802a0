//go:build !kubernetes_1_35

package controlplane

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/job"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

// Quotas are how a quota's controller counts objects of each kind.
var Quotas = quotainstall.NewQuotaConfigurationForControllers

// Jobs is the controller of jobs. It gets no informers of workloads and pod groups: it
// makes these only with an alpha feature.
func Jobs(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory) (*job.Controller, error) {
	return job.NewController(ctx, client, shared.Core().V1().Pods(), shared.Batch().V1().Jobs(), nil, nil)
}
