package controlplane

import (
	"context"
	"time"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

// How long a DaemonSet's controller waits before it replaces a pod that failed on a
// node, as upstream.
const (
	daemonRetryAfter  = time.Second
	daemonRetryAtMost = 15 * time.Minute
)

// workloads are the controllers that make pods.
var workloads = []controller{
	{"deployment-controller", func(ctx context.Context, r *controllers, as identity) error {
		apps := r.shared.Apps().V1()
		one, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), r.shared.Core().V1().Pods(), as)
		if err != nil {
			return err
		}
		r.work(one.Run)
		return nil
	}},
	{"replicaset-controller", func(ctx context.Context, r *controllers, as identity) error {
		r.work(replicaset.NewReplicaSetController(ctx, r.shared.Apps().V1().ReplicaSets(), r.shared.Core().V1().Pods(),
			as, replicaset.BurstReplicas).Run)
		return nil
	}},
	{"replication-controller", func(ctx context.Context, r *controllers, as identity) error {
		core := r.shared.Core().V1()
		r.work(replication.NewReplicationManager(ctx, core.Pods(), core.ReplicationControllers(), as, replication.BurstReplicas).Run)
		return nil
	}},
	{"statefulset-controller", func(ctx context.Context, r *controllers, as identity) error {
		core, apps := r.shared.Core().V1(), r.shared.Apps().V1()
		r.work(statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(),
			apps.ControllerRevisions(), as).Run)
		return nil
	}},
	{"daemon-set-controller", func(ctx context.Context, r *controllers, as identity) error {
		core, apps := r.shared.Core().V1(), r.shared.Apps().V1()
		one, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(),
			as, flowcontrol.NewBackOff(daemonRetryAfter, daemonRetryAtMost))
		if err != nil {
			return err
		}
		r.work(one.Run)
		return nil
	}},
	{"job-controller", func(ctx context.Context, r *controllers, as identity) error {
		one, err := jobController(ctx, as, r.shared)
		if err != nil {
			return err
		}
		r.work(one.Run)
		return nil
	}},
	{"cronjob-controller", func(ctx context.Context, r *controllers, as identity) error {
		batch := r.shared.Batch().V1()
		one, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), as)
		if err != nil {
			return err
		}
		r.work(one.Run)
		return nil
	}},
}
