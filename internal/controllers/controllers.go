// Package controllers lists the constructors of Kubernetes' controllers, for the live cluster of the simulator and
// for the one in memory. Clients, workers and queues are the caller's.
package controllers

import (
	"context"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	"k8s.io/kubernetes/pkg/controller/statefulset"

	minor "wasmkwokwizardry.io/regex-scheduling/internal/minor/controlplane"
)

// Access is what a controller reads and writes a cluster by.
type Access struct {
	Client kubernetes.Interface
	Shared informers.SharedInformerFactory
	// Pods is what [Disruption] lists pods by. Nil: Shared's.
	Pods coreinformers.PodInformer
	// Mapper and Scales find the scale of an owner that is no workload of Kubernetes' own. Only [Disruption] needs them.
	Mapper meta.RESTMapper
	Scales scale.ScalesGetter
}

// Controller is the constructor of one. What it makes has a method Run(context.Context), or
// Run(context.Context, int) with a number of workers, which depends on the minor of Kubernetes.
type Controller struct {
	Name string // of its service account in kube-system
	Make func(context.Context, Access) (any, error)
}

// How long a DaemonSet's controller waits before it replaces a pod that failed on a
// node, as upstream.
const (
	daemonRetryAfter  = time.Second
	daemonRetryAtMost = 15 * time.Minute
)

// Workloads are the controllers that create pods, or what creates them.
var Workloads = []Controller{
	{"deployment-controller", func(ctx context.Context, a Access) (any, error) {
		apps := a.Shared.Apps().V1()
		return deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), a.Shared.Core().V1().Pods(), a.Client)
	}},
	{"replicaset-controller", func(ctx context.Context, a Access) (any, error) {
		return replicaset.NewReplicaSetController(ctx, a.Shared.Apps().V1().ReplicaSets(), a.Shared.Core().V1().Pods(), a.Client, replicaset.BurstReplicas), nil
	}},
	{"replication-controller", func(ctx context.Context, a Access) (any, error) {
		core := a.Shared.Core().V1()
		return replication.NewReplicationManager(ctx, core.Pods(), core.ReplicationControllers(), a.Client, replication.BurstReplicas), nil
	}},
	{"statefulset-controller", func(ctx context.Context, a Access) (any, error) {
		apps, core := a.Shared.Apps().V1(), a.Shared.Core().V1()
		return statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), a.Client), nil
	}},
	{"daemon-set-controller", func(ctx context.Context, a Access) (any, error) {
		apps, core := a.Shared.Apps().V1(), a.Shared.Core().V1()
		return daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(),
			a.Client, flowcontrol.NewBackOff(daemonRetryAfter, daemonRetryAtMost))
	}},
	{"job-controller", func(ctx context.Context, a Access) (any, error) {
		return minor.Jobs(ctx, a.Client, a.Shared)
	}},
	{"cronjob-controller", func(ctx context.Context, a Access) (any, error) {
		batch := a.Shared.Batch().V1()
		return cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), a.Client)
	}},
}

// Disruption counts how many pods of a PodDisruptionBudget may be evicted.
var Disruption = Controller{"disruption-controller", func(ctx context.Context, a Access) (any, error) {
	apps, core := a.Shared.Apps().V1(), a.Shared.Core().V1()
	pods := a.Pods
	if pods == nil {
		pods = core.Pods()
	}
	return disruption.NewDisruptionController(ctx, pods, a.Shared.Policy().V1().PodDisruptionBudgets(),
		core.ReplicationControllers(), apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(),
		a.Client, a.Mapper, a.Scales, a.Client.Discovery()), nil
}}

const never = time.Duration(math.MaxInt64)

// NodeLifecycle gives nodes the taints of their conditions that reject new pods, and that of a cordon. It is for nodes
// whose kubelets do not report: none becomes unreachable.
var NodeLifecycle = NodeLifecycleEvery(never)

// NodeLifecycleEvery is NodeLifecycle that also looks at all nodes once in a period, and gives a node that is not
// ready the taint that evicts pods.
func NodeLifecycleEvery(period time.Duration) Controller {
	return Controller{"node-controller", func(ctx context.Context, a Access) (any, error) {
		core := a.Shared.Core().V1()
		const evictions, secondaryEvictions, largeCluster, unhealthyZone = 0.1, 0.01, 50, 0.55 // as upstream
		return nodelifecycle.NewNodeLifecycleController(ctx, a.Shared.Coordination().V1().Leases(), core.Pods(), core.Nodes(), a.Shared.Apps().V1().DaemonSets(),
			a.Client, period, never, never, evictions, secondaryEvictions, largeCluster, unhealthyZone)
	}}
}
