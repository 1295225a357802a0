package controlplane

import (
	"context"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	upstream "k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/controller/volume/ephemeral"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"

	common "wasmkwokwizardry.io/regex-scheduling/internal/controllers"
	minor "wasmkwokwizardry.io/regex-scheduling/internal/minor/controlplane"
)

const syncPeriod = 30 * time.Second // for kinds that appear later, as upstream

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
			func(ctx context.Context) { collector.Run(ctx, workers, syncPeriod) },
			func(ctx context.Context) { collector.Sync(ctx, as.Discovery(), syncPeriod) })
		return nil
	}},
}

// aggregation fills the ClusterRoles view, edit and admin, and others that are made of labelled ones.
var aggregation = controller{"clusterrole-aggregation-controller", func(ctx context.Context, r *controllers, as identity) error {
	return r.run(minor.ClusterRoles(ctx, as, r.shared), nil)
}}

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
	aggregation,
	{common.Disruption.Name, func(ctx context.Context, r *controllers, as identity) error {
		mapper := as.mapper()
		scales, err := scale.NewForConfig(as.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(as.Discovery()))
		if err != nil {
			return err
		}
		return r.run(common.Disruption.Make(ctx, common.Access{Client: as, Shared: r.shared, Mapper: mapper, Scales: scales}))
	}},
}

// volumeResync is how often claims are looked at that nothing has happened to: so
// long one may wait for a volume that was made after it. Upstream it is 15 seconds,
// in which a person at the page gives up.
const volumeResync = 2 * time.Second

// volumes are the controllers of claims. The binder has none of the volume plugins
// that are compiled into Kubernetes: they would make and delete files of this machine.
var volumes = []controller{
	{"persistent-volume-binder", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
			KubeClient:                as,
			SyncPeriod:                volumeResync,
			VolumeInformer:            r.core().PersistentVolumes(),
			ClaimInformer:             r.core().PersistentVolumeClaims(),
			ClassInformer:             r.shared.Storage().V1().StorageClasses(),
			PodInformer:               r.core().Pods(),
			NodeInformer:              r.core().Nodes(),
			EnableDynamicProvisioning: true,
		}))
	}},
	{"ephemeral-volume-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(ephemeral.NewController(ctx, as, r.core().Pods(), r.core().PersistentVolumeClaims()))
	}},
}

var workloads = shared(common.Workloads...)

// nodeMonitorPeriod is how soon a node that is not ready gets the taint that evicts pods, as upstream.
const nodeMonitorPeriod = 5 * time.Second

// nodes is the controller that taints nodes that are cordoned or not ready.
var nodes = shared(common.NodeLifecycleEvery(nodeMonitorPeriod))

// shared are controllers that what-ifs run, too.
func shared(all ...common.Controller) (of []controller) {
	for _, one := range all {
		of = append(of, controller{one.Name, func(ctx context.Context, r *controllers, as identity) error {
			return r.run(one.Make(ctx, common.Access{Client: as, Shared: r.shared}))
		}})
	}
	return of
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

// quotaRecount is of all quotas, as upstream: else only one whose objects have changed is counted.
const quotaRecount = 5 * time.Minute

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
		ResourceQuotaInformer:     countedOnce{r.core().ResourceQuotas()},
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
		func(ctx context.Context) { c.Sync(ctx, discover, syncPeriod) })
	return nil
}}

// countedOnce are quotas that the controller counts when it first sees them, and all of them again only after the first
// quotaRecount. It would do both at once: then a count from before a pod could be written after the pod was charged,
// and one pod too many fits until the next.
type countedOnce struct {
	coreinformers.ResourceQuotaInformer
}

func (c countedOnce) Lister() corelisters.ResourceQuotaLister {
	return &laterLister{ResourceQuotaLister: c.ResourceQuotaInformer.Lister()}
}

type laterLister struct {
	corelisters.ResourceQuotaLister
	asked atomic.Bool
}

// List is what the controller begins a count of all with.
func (l *laterLister) List(selector labels.Selector) ([]*corev1.ResourceQuota, error) {
	if !l.asked.Swap(true) {
		return nil, nil
	}
	return l.ResourceQuotaLister.List(selector)
}

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
