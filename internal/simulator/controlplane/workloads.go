package controlplane

import (
	"context"
	"time"

	upstream "wasmkwokwizardry.io/regex-scheduling/internal/controllers"
)

var workloads = shared(upstream.Workloads...)

// nodeMonitorPeriod is how soon a node that is not ready gets the taint that evicts pods. Upstream it is 5 seconds.
const nodeMonitorPeriod = 2 * time.Second

// nodes is the controller that taints nodes that are cordoned or not ready.
var nodes = shared(upstream.NodeLifecycleEvery(nodeMonitorPeriod))

// shared are controllers that what-ifs run, too.
func shared(all ...upstream.Controller) (of []controller) {
	for _, one := range all {
		of = append(of, controller{one.Name, func(ctx context.Context, r *controllers, as identity) error {
			return r.run(one.Make(ctx, upstream.Access{Client: as, Shared: r.shared}))
		}})
	}
	return of
}
