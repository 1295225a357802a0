package controlplane

import (
	"context"

	upstream "wasmkwokwizardry.io/regex-scheduling/internal/controllers"
)

var workloads = shared(upstream.Workloads...)

// shared are controllers that what-ifs run, too.
func shared(all ...upstream.Controller) (of []controller) {
	for _, one := range all {
		of = append(of, controller{one.Name, func(ctx context.Context, r *controllers, as identity) error {
			return r.run(one.Make(ctx, upstream.Access{Client: as, Shared: r.shared}))
		}})
	}
	return of
}
