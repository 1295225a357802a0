package controlplane

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
)

const (
	gcSyncPeriod  = 30 * time.Second // for kinds that appear later, as upstream
	controllerJob = 2                // workers of each controller
)

// startControllers runs the controllers that make deletion work. Without them a
// namespace stays Terminating, what a deleted object owned stays, and so do the
// devices of a deleted pod, and the pods of a deleted node, which no kubelet answers for any more.
func startControllers(c *Cluster) (stop func(), err error) {
	config, err := c.ClientConfig("cleanup-controllers", "system:masters")
	if err != nil {
		return func() {}, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return func() {}, fmt.Errorf("client of the controllers: %w", err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return func() {}, fmt.Errorf("client of the controllers: %w", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan struct{})
	shared := informers.NewSharedInformerFactory(client, 0)
	metaShared := metadatainformer.NewSharedInformerFactory(meta, 0)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	collector, err := garbagecollector.NewGarbageCollector(ctx, client, meta, mapper,
		garbagecollector.DefaultIgnoredResources(), informerfactory.NewInformerFactory(shared, metaShared), started)
	if err != nil {
		cancel()
		return func() {}, fmt.Errorf("garbage collector: %w", err)
	}
	devices, err := newDeviceClaims(ctx, client, shared)
	if err != nil {
		cancel()
		return func() {}, fmt.Errorf("controller of device claims: %w", err)
	}
	namespaces := namespace.NewNamespaceController(ctx, client, meta, client.Discovery().ServerPreferredNamespacedResources,
		shared.Core().V1().Namespaces(), 0, corev1.FinalizerKubernetes)
	orphans := newOrphanPods(client, shared.Core().V1())

	var running sync.WaitGroup
	for _, run := range []func(){
		func() { namespaces.Run(ctx, controllerJob) },
		func() { orphans.run(ctx) },
		func() { devices.Run(ctx, controllerJob) },
		func() { collector.Run(ctx, controllerJob, gcSyncPeriod) },
		func() { collector.Sync(ctx, client.Discovery(), gcSyncPeriod) },
	} {
		running.Add(1)
		go func() {
			defer running.Done()
			run()
		}()
	}
	shared.Start(ctx.Done())
	metaShared.Start(ctx.Done())
	close(started)
	return func() {
		cancel()
		shared.Shutdown()
		metaShared.Shutdown()
		running.Wait()
	}, nil
}
