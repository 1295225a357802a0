package simulator

import (
	"context"
	"fmt"
	"log"
	"sync"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/reconcile"
)

// caches are what is known of the cluster's objects.
type caches struct {
	client    kubernetes.Interface
	informers informers.SharedInformerFactory
	changes   signal
}

// Client may do everything.
func (c *caches) Client() kubernetes.Interface { return c.client }

// Informers are synced caches of the kinds in cached, without their managed fields. What their listers
// return is shared: don't change it.
func (c *caches) Informers() informers.SharedInformerFactory { return c.informers }

// Changes returns a channel that gets a value soon after anything in the caches of Informers, in the Recorder
// or in the scheduler's configuration has changed. Several changes may share one. The channel is never closed.
func (c *caches) Changes(ctx context.Context) <-chan struct{} { return c.changes.subscribe(ctx) }

// startCaches fills the caches, and keeps them so while running is not done. ctx
// bounds the wait.
func (c *caches) startCaches(ctx, running context.Context, config *rest.Config, warnings *log.Logger) (err error) {
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("client of the simulator: %w", err)
	}
	c.informers = informers.NewSharedInformerFactoryWithOptions(c.client, 0, informers.WithTransform(reconcile.StripManagedFields))
	changed := func(any) { c.changes.send() }
	watchErrors := reconcile.WatchErrors(warnings)
	for _, informer := range c.cached() {
		if err := informer.SetWatchErrorHandlerWithContext(watchErrors); err != nil {
			return fmt.Errorf("caches of the simulator: %w", err)
		}
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: changed, DeleteFunc: changed, UpdateFunc: func(_, now any) { changed(now) },
		}); err != nil {
			return fmt.Errorf("caches of the simulator: %w", err)
		}
	}
	c.informers.Start(running.Done())
	for kind, synced := range c.informers.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("caches of the simulator: %s: %w", kind, context.Cause(ctx))
		}
	}
	return nil
}

func (c *caches) cached() []cache.SharedIndexInformer {
	core, storage, apps, batch := c.informers.Core().V1(), c.informers.Storage().V1(), c.informers.Apps().V1(), c.informers.Batch().V1()
	return []cache.SharedIndexInformer{
		core.Nodes().Informer(), core.Pods().Informer(), core.Namespaces().Informer(), core.Events().Informer(),
		core.PersistentVolumes().Informer(), core.PersistentVolumeClaims().Informer(),
		core.Services().Informer(), core.ConfigMaps().Informer(), core.ReplicationControllers().Informer(),
		c.informers.Policy().V1().PodDisruptionBudgets().Informer(),
		apps.Deployments().Informer(), apps.ReplicaSets().Informer(), apps.StatefulSets().Informer(), apps.DaemonSets().Informer(),
		batch.Jobs().Informer(), batch.CronJobs().Informer(),
		storage.StorageClasses().Informer(), c.informers.Scheduling().V1().PriorityClasses().Informer(),
	}
}

// signal wakes any number of subscribers when something has changed, and never waits
// for them. The zero value is ready to use.
type signal struct{ subscribers sync.Map }

// subscribe returns a channel that gets a value soon after each send, until ctx is done.
func (s *signal) subscribe(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	s.subscribers.Store(c, nil)
	context.AfterFunc(ctx, func() { s.subscribers.Delete(c) })
	return c
}

func (s *signal) send() {
	for c := range s.subscribers.Range {
		select {
		case c.(chan struct{}) <- struct{}{}:
		default: // it has not read the last one yet, and will see this change too
		}
	}
}
