//go:build kubernetes_1_35

package wasmhost

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// PreBindPreFlight implements fwk.PreBindPlugin.
func (h bindingHooks) PreBindPreFlight(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	return h.takesPart()
}
