package controlplane

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/informers"
	upstream "k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"

	minor "wasmkwokwizardry.io/regex-scheduling/internal/minor/controlplane"
)

const (
	quotaRecount = 5 * time.Minute  // of all quotas, as upstream: else only one whose objects have changed is counted
	quotaSync    = 30 * time.Second // for kinds that appear later, as upstream
)

// quotas counts what a ResourceQuota limits. The API server's admission rejects what would exceed a quota that has
// been counted.
var quotas = controller{"resourcequota-controller", func(ctx context.Context, r *controllers, as identity) error {
	objects := countedObjects{metadataOnly{r.metaShared}, r.shared}
	config, err := minor.Quotas(generic.ListerFuncForResourceFunc(objects.ForResource), r.shared)
	if err != nil {
		return err
	}
	discover := as.Discovery().ServerPreferredNamespacedResources
	c, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               as.CoreV1(),
		ResourceQuotaInformer:     r.core().ResourceQuotas(),
		ResyncPeriod:              upstream.StaticResyncPeriodFunc(quotaRecount),
		InformerFactory:           objects,
		ReplenishmentResyncPeriod: upstream.NoResyncPeriodFunc,
		DiscoveryFunc:             discover,
		IgnoredResourcesFunc:      config.IgnoredResources,
		InformersStarted:          r.started,
		Registry:                  generic.NewRegistry(config.Evaluators()),
		UpdateFilter:              quotainstall.DefaultUpdateFilter(),
	})
	if err != nil {
		return err
	}
	r.loops = append(r.loops,
		func(ctx context.Context) { c.Run(ctx, workers) },
		func(ctx context.Context) { c.Sync(ctx, discover, quotaSync) })
	return nil
}}

// countedObjects has whole objects of the kinds of which a quota limits more than their number, and the garbage
// collector's informers of all others.
type countedObjects struct {
	metadataOnly
	whole informers.SharedInformerFactory
}

func (c countedObjects) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	switch resource.Resource {
	case "pods", "services", "persistentvolumeclaims", "resourceclaims":
		return c.whole.ForResource(resource)
	}
	return c.metadataOnly.ForResource(resource)
}
