package controlplane

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
)

const gcSyncPeriod = 30 * time.Second // for kinds that appear later, as upstream

// cleaners are the controllers that finish a deletion. Without them a namespace
// stays Terminating, and what a deleted object owned stays.
var cleaners = []controller{
	{"namespace-controller", func(ctx context.Context, r *controllers, as identity) error {
		r.work(namespace.NewNamespaceController(ctx, as, as.metadata, as.Discovery().ServerPreferredNamespacedResources,
			r.shared.Core().V1().Namespaces(), 0, corev1.FinalizerKubernetes).Run)
		return nil
	}},
	{"generic-garbage-collector", func(ctx context.Context, r *controllers, as identity) error {
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(as.Discovery()))
		collector, err := garbagecollector.NewGarbageCollector(ctx, as, as.metadata, mapper,
			garbagecollector.DefaultIgnoredResources(), metadataOnly{r.metaShared}, r.started)
		if err != nil {
			return err
		}
		r.work(func(ctx context.Context, workers int) { collector.Run(ctx, workers, gcSyncPeriod) })
		r.run(func(ctx context.Context) { collector.Sync(ctx, as.Discovery(), gcSyncPeriod) })
		return nil
	}},
}

// keepers are the controllers that delete or free what nobody needs any more:
// pods whose node is gone, which no kubelet answers for; the devices of pods that
// are gone; and jobs some time after their end.
var keepers = []controller{
	{"pod-garbage-collector", func(_ context.Context, r *controllers, as identity) error {
		r.run(newOrphanPods(as, r.shared.Core().V1()).run)
		return nil
	}},
	{"resource-claim-controller", func(ctx context.Context, r *controllers, as identity) error {
		devices, err := newDeviceClaims(ctx, as, r.shared)
		if err != nil {
			return err
		}
		r.work(devices.Run)
		return nil
	}},
	{"ttl-after-finished-controller", func(ctx context.Context, r *controllers, as identity) error {
		r.work(ttlafterfinished.New(ctx, r.shared.Batch().V1().Jobs(), as).Run)
		return nil
	}},
}

// metadataOnly gives the garbage collector as much of each object as it needs. The
// other controllers, which come and go, have informers of whole objects.
type metadataOnly struct {
	metadatainformer.SharedInformerFactory
}

func (m metadataOnly) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	return m.SharedInformerFactory.ForResource(resource), nil
}
