package controlplane

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
)

const gcSyncPeriod = 30 * time.Second // for kinds that appear later, as upstream

// cleaning are the controllers that make deletion work. Without them a namespace
// stays Terminating, what a deleted object owned stays, and so do the devices of a
// deleted pod, the pods of a deleted node, which no kubelet answers for any more,
// and jobs that should go some time after their end.
var cleaning = []controller{
	{"namespace-controller", func(ctx context.Context, c *controllers, client kubernetes.Interface, config *rest.Config) error {
		meta, err := metadata.NewForConfig(config)
		if err != nil {
			return err
		}
		c.work(namespace.NewNamespaceController(ctx, client, meta, client.Discovery().ServerPreferredNamespacedResources,
			c.shared.Core().V1().Namespaces(), 0, corev1.FinalizerKubernetes).Run)
		return nil
	}},
	{"generic-garbage-collector", newCollector},
	{"pod-garbage-collector", func(_ context.Context, c *controllers, client kubernetes.Interface, _ *rest.Config) error {
		c.run(newOrphanPods(client, c.shared.Core().V1()).run)
		return nil
	}},
	{"resourceclaim-controller", func(ctx context.Context, c *controllers, client kubernetes.Interface, _ *rest.Config) error {
		devices, err := newDeviceClaims(ctx, client, c.shared)
		if err != nil {
			return err
		}
		c.work(devices.Run)
		return nil
	}},
	{"ttl-after-finished-controller", func(ctx context.Context, c *controllers, client kubernetes.Interface, _ *rest.Config) error {
		c.work(ttlafterfinished.New(ctx, c.shared.Batch().V1().Jobs(), client).Run)
		return nil
	}},
}

// newCollector deletes what a deleted object owned.
func newCollector(ctx context.Context, c *controllers, client kubernetes.Interface, config *rest.Config) error {
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	collector, err := garbagecollector.NewGarbageCollector(ctx, client, meta, mapper,
		garbagecollector.DefaultIgnoredResources(), informerfactory.NewInformerFactory(c.shared, c.metaShared), c.started)
	if err != nil {
		return err
	}
	c.run(func(ctx context.Context) { collector.Run(ctx, controllerJob, gcSyncPeriod) })
	c.run(func(ctx context.Context) { collector.Sync(ctx, client.Discovery(), gcSyncPeriod) })
	return nil
}
