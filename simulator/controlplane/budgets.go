package controlplane

import (
	"context"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller/disruption"
)

// budgets is the controller that counts how many pods of a PodDisruptionBudget may
// go. Preemption asks for it.
var budgets = []controller{
	{"disruption-controller", func(ctx context.Context, r *controllers, as identity) error {
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(as.Discovery()))
		scales, err := scale.NewForConfig(as.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(as.Discovery()))
		if err != nil {
			return err
		}
		core, apps := r.shared.Core().V1(), r.shared.Apps().V1()
		r.run(disruption.NewDisruptionController(ctx, core.Pods(), r.shared.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
			apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), as, mapper, scales, as.Discovery()).Run)
		return nil
	}},
}
