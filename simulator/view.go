package simulator

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

// Client may do everything.
func (s *Simulator) Client() kubernetes.Interface { return s.client }

// Informers are synced caches of nodes, pods, namespaces, priority classes,
// persistent volumes and their claims, storage classes, workloads, budgets, services,
// config maps and events, without their managed fields. What their listers return is shared: don't change it.
func (s *Simulator) Informers() informers.SharedInformerFactory { return s.informers }

// Recorder keeps the scheduling attempts.
func (s *Simulator) Recorder() *recorder.Recorder { return s.recorder }

// Changes returns a channel that gets a value soon after anything in the caches
// of Informers, in the Recorder or in the scheduler's configuration has changed.
// Several changes may share a value. The subscription ends with ctx; the channel
// is never closed.
func (s *Simulator) Changes(ctx context.Context) <-chan struct{} { return s.changes.subscribe(ctx) }

// startCaches fills the caches and begins to tell of changes.
func (s *Simulator) startCaches(ctx context.Context) (err error) {
	if s.client, err = kubernetes.NewForConfig(s.cluster.AdminConfig()); err != nil {
		return fmt.Errorf("client of the simulator: %w", err)
	}
	s.informers = informers.NewSharedInformerFactoryWithOptions(s.client, 0,
		informers.WithTransform(stripManagedFields))
	for _, informer := range s.cached() {
		changed := func(any) { s.changes.send() }
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: changed, DeleteFunc: changed,
			UpdateFunc: func(_, _ any) { s.changes.send() },
		}); err != nil {
			return fmt.Errorf("caches of the simulator: %w", err)
		}
	}
	s.informers.Start(s.running.Done())
	for kind, synced := range s.informers.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("caches of the simulator: %s: %w", kind, context.Cause(ctx))
		}
	}
	return nil
}

// stripManagedFields drops a third of each object that nobody here reads.
func stripManagedFields(obj any) (any, error) {
	if meta, ok := obj.(metav1.Object); ok {
		meta.SetManagedFields(nil)
	}
	return obj, nil
}

func (s *Simulator) cached() []cache.SharedIndexInformer {
	core, storage, apps, batch := s.informers.Core().V1(), s.informers.Storage().V1(), s.informers.Apps().V1(), s.informers.Batch().V1()
	return []cache.SharedIndexInformer{
		core.Nodes().Informer(), core.Pods().Informer(), core.Namespaces().Informer(), core.Events().Informer(),
		core.PersistentVolumes().Informer(), core.PersistentVolumeClaims().Informer(),
		core.Services().Informer(), core.ConfigMaps().Informer(), core.ReplicationControllers().Informer(),
		s.informers.Policy().V1().PodDisruptionBudgets().Informer(),
		apps.Deployments().Informer(), apps.ReplicaSets().Informer(), apps.StatefulSets().Informer(), apps.DaemonSets().Informer(),
		batch.Jobs().Informer(), batch.CronJobs().Informer(),
		storage.StorageClasses().Informer(), s.informers.Scheduling().V1().PriorityClasses().Informer(),
	}
}
