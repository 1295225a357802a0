package controllermanager

import (
	"context"
	_ "unsafe" // for go:linkname

	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

// parts are the private fields of a controller that the manager takes, and the workers that it calls in place of the
// controller's Run, whose goroutines would write to the cluster beside it.
type parts struct {
	workers map[string]func(context.Context) // by the fields of their queues
	unused  []string                         // queues without a worker: nothing is to be done with their keys here
	clock   string                           // the field with its clock. It may be empty
	// conditionsOnly: its queue delays keys only for a condition that it takes from the time of the machine, and nothing reads it.
	conditionsOnly bool
}

// partsOf are the parts of each controller. A worker returns when its queue says that it is shut down; processNextOrphanPod
// returns after a key.
func partsOf(controller any) parts {
	switch c := controller.(type) {
	case *deployment.DeploymentController:
		return parts{workers: map[string]func(context.Context){"queue": method(c, deploymentWorker)}, conditionsOnly: true}
	case *replicaset.ReplicaSetController:
		return parts{workers: map[string]func(context.Context){"queue": method(c, replicaSetWorker)}, clock: "clock"}
	case *statefulset.StatefulSetController:
		return parts{workers: map[string]func(context.Context){"queue": method(c, statefulSetWorker)}, clock: "clock"}
	case *daemon.DaemonSetsController:
		return parts{workers: map[string]func(context.Context){
			"queue": method(c, daemonSetWorker), "nodeUpdateQueue": method(c, daemonSetNodeWorker),
		}, clock: "failedPodsBackoff"}
	case *job.Controller:
		return parts{workers: map[string]func(context.Context){
			"queue": method(c, jobWorker), "orphanQueue": func(ctx context.Context) { processNextOrphanPod(c, ctx) },
		}, clock: "clock"}
	case *disruption.DisruptionController:
		return parts{workers: map[string]func(context.Context){
			"queue": method(c, disruptionWorker), "recheckQueue": func(context.Context) { recheckWorker(c) },
			"stalePodDisruptionQueue": method(c, stalePodDisruptionWorker),
		}, clock: "clock"}
	case *nodelifecycle.Controller: // not its loop over what kubelets report: a cluster in memory has none
		return parts{workers: map[string]func(context.Context){"nodeUpdateQueue": method(c, nodeWorker)}, unused: []string{"podUpdateQueue"}}
	}
	return parts{}
}

func method[C any](c C, worker func(C, context.Context)) func(context.Context) {
	return func(ctx context.Context) { worker(c, ctx) }
}

//go:linkname deploymentWorker k8s.io/kubernetes/pkg/controller/deployment.(*DeploymentController).worker
func deploymentWorker(*deployment.DeploymentController, context.Context)

//go:linkname replicaSetWorker k8s.io/kubernetes/pkg/controller/replicaset.(*ReplicaSetController).worker
func replicaSetWorker(*replicaset.ReplicaSetController, context.Context)

//go:linkname statefulSetWorker k8s.io/kubernetes/pkg/controller/statefulset.(*StatefulSetController).worker
func statefulSetWorker(*statefulset.StatefulSetController, context.Context)

//go:linkname daemonSetWorker k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).runWorker
func daemonSetWorker(*daemon.DaemonSetsController, context.Context)

//go:linkname daemonSetNodeWorker k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).runNodeUpdateWorker
func daemonSetNodeWorker(*daemon.DaemonSetsController, context.Context)

//go:linkname jobWorker k8s.io/kubernetes/pkg/controller/job.(*Controller).worker
func jobWorker(*job.Controller, context.Context)

//go:linkname processNextOrphanPod k8s.io/kubernetes/pkg/controller/job.(*Controller).processNextOrphanPod
func processNextOrphanPod(*job.Controller, context.Context) bool

//go:linkname disruptionWorker k8s.io/kubernetes/pkg/controller/disruption.(*DisruptionController).worker
func disruptionWorker(*disruption.DisruptionController, context.Context)

//go:linkname recheckWorker k8s.io/kubernetes/pkg/controller/disruption.(*DisruptionController).recheckWorker
func recheckWorker(*disruption.DisruptionController)

//go:linkname stalePodDisruptionWorker k8s.io/kubernetes/pkg/controller/disruption.(*DisruptionController).stalePodDisruptionWorker
func stalePodDisruptionWorker(*disruption.DisruptionController, context.Context)

//go:linkname nodeWorker k8s.io/kubernetes/pkg/controller/nodelifecycle.(*Controller).doNodeProcessingPassWorker
func nodeWorker(*nodelifecycle.Controller, context.Context)
