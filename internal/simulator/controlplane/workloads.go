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

	minor "wasmkwokwizardry.io/regex-scheduling/internal/minor/controlplane"
)

// How long a DaemonSet's controller waits before it replaces a pod that failed on a
// node, as upstream.
const (
	daemonRetryAfter  = time.Second
	daemonRetryAtMost = 15 * time.Minute
)

var workloads = []controller{
	{"deployment-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(deployment.NewDeploymentController(ctx, r.apps().Deployments(), r.apps().ReplicaSets(), r.core().Pods(), as))
	}},
	{"replicaset-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(replicaset.NewReplicaSetController(ctx, r.apps().ReplicaSets(), r.core().Pods(), as, replicaset.BurstReplicas), nil)
	}},
	{"replication-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(replication.NewReplicationManager(ctx, r.core().Pods(), r.core().ReplicationControllers(), as, replication.BurstReplicas), nil)
	}},
	{"statefulset-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(statefulset.NewStatefulSetController(ctx, r.core().Pods(), r.apps().StatefulSets(), r.core().PersistentVolumeClaims(),
			r.apps().ControllerRevisions(), as), nil)
	}},
	{"daemon-set-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(daemon.NewDaemonSetsController(ctx, r.apps().DaemonSets(), r.apps().ControllerRevisions(), r.core().Pods(), r.core().Nodes(),
			as, flowcontrol.NewBackOff(daemonRetryAfter, daemonRetryAtMost)))
	}},
	{"job-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(minor.Jobs(ctx, as, r.shared))
	}},
	{"cronjob-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(cronjob.NewControllerV2(ctx, r.batch().Jobs(), r.batch().CronJobs(), as))
	}},
}
