package controlplane

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/replicaset"
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
	{"deployment-controller", func(ctx context.Context, c *controllers, client kubernetes.Interface, _ *rest.Config) error {
		apps := c.shared.Apps().V1()
		one, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), c.shared.Core().V1().Pods(), client)
		if err != nil {
			return err
		}
		c.work(one.Run)
		return nil
	}},
	{"replicaset-controller", func(ctx context.Context, c *controllers, client kubernetes.Interface, _ *rest.Config) error {
		c.work(replicaset.NewReplicaSetController(ctx, c.shared.Apps().V1().ReplicaSets(), c.shared.Core().V1().Pods(),
			client, replicaset.BurstReplicas).Run)
		return nil
	}},
	{"statefulset-controller", func(ctx context.Context, c *controllers, client kubernetes.Interface, _ *rest.Config) error {
		core, apps := c.shared.Core().V1(), c.shared.Apps().V1()
		c.work(statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(),
			apps.ControllerRevisions(), client).Run)
		return nil
	}},
	{"daemon-set-controller", func(ctx context.Context, c *controllers, client kubernetes.Interface, _ *rest.Config) error {
		core, apps := c.shared.Core().V1(), c.shared.Apps().V1()
		one, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(),
			client, flowcontrol.NewBackOff(daemonRetryAfter, daemonRetryAtMost))
		if err != nil {
			return err
		}
		c.work(one.Run)
		return nil
	}},
	{"job-controller", func(ctx context.Context, c *controllers, client kubernetes.Interface, _ *rest.Config) error {
		one, err := jobController(ctx, client, c.shared)
		if err != nil {
			return err
		}
		c.work(one.Run)
		return nil
	}},
	{"cronjob-controller", func(ctx context.Context, c *controllers, client kubernetes.Interface, _ *rest.Config) error {
		batch := c.shared.Batch().V1()
		one, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), client)
		if err != nil {
			return err
		}
		c.work(one.Run)
		return nil
	}},
}
