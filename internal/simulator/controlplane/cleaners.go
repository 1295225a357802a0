package controlplane

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"

	upstream "wasmkwokwizardry.io/regex-scheduling/internal/controllers"
	minor "wasmkwokwizardry.io/regex-scheduling/internal/minor/controlplane"
)

const gcSyncPeriod = 30 * time.Second // for kinds that appear later, as upstream

// cleaners are the controllers that finish a deletion. Without them a namespace
// stays Terminating, and what a deleted object owned stays.
var cleaners = []controller{
	{"namespace-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(namespace.NewNamespaceController(ctx, as, as.metadata, as.Discovery().ServerPreferredNamespacedResources,
			r.core().Namespaces(), 0, corev1.FinalizerKubernetes), nil)
	}},
	{"generic-garbage-collector", func(ctx context.Context, r *controllers, as identity) error {
		collector, err := garbagecollector.NewGarbageCollector(ctx, as, as.metadata, as.mapper(),
			garbagecollector.DefaultIgnoredResources(), metadataOnly{r.metaShared}, r.started)
		if err != nil {
			return err
		}
		r.loops = append(r.loops,
			func(ctx context.Context) { collector.Run(ctx, workers, gcSyncPeriod) },
			func(ctx context.Context) { collector.Sync(ctx, as.Discovery(), gcSyncPeriod) })
		return nil
	}},
}

// keepers are the controllers that delete or free what is not needed any more (pods whose node is gone, pods that a
// taint evicts, devices of pods that are gone, and jobs some time after their end), and count the objects
// of quotas. The last counts how many pods of a PodDisruptionBudget may go, which preemption asks for.
var keepers = []controller{
	{"pod-garbage-collector", func(_ context.Context, r *controllers, as identity) error {
		r.loops = append(r.loops, deleteOrphans(as, r.core()))
		return nil
	}},
	{"node-controller", func(ctx context.Context, r *controllers, as identity) error { // whose rights it has in any cluster
		return r.run(tainteviction.New(ctx, as, r.core().Pods(), r.core().Nodes(), "taint-eviction-controller"))
	}},
	{"resource-claim-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(minor.Claims(ctx, as, r.shared))
	}},
	{"ttl-after-finished-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(ttlafterfinished.New(ctx, r.batch().Jobs(), as), nil)
	}},
	quotas,
	{upstream.Disruption.Name, func(ctx context.Context, r *controllers, as identity) error {
		mapper := as.mapper()
		scales, err := scale.NewForConfig(as.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(as.Discovery()))
		if err != nil {
			return err
		}
		return r.run(upstream.Disruption.Make(ctx, upstream.Access{Client: as, Shared: r.shared, Mapper: mapper, Scales: scales}))
	}},
}

func (i identity) mapper() *restmapper.DeferredDiscoveryRESTMapper {
	return restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(i.Discovery()))
}

// metadataOnly gives the garbage collector as much of each object as it needs. The
// other controllers, which come and go, have informers of whole objects.
type metadataOnly struct {
	metadatainformer.SharedInformerFactory
}

func (m metadataOnly) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	return m.SharedInformerFactory.ForResource(resource), nil
}
