//go:build !kubernetes_1_35

package wasmhost

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// This file and its twin for another minor hold all that differs between the
// minors of Kubernetes that the Makefile names.

// PreBindPreFlight implements fwk.PreBindPlugin.
func (h bindingHooks) PreBindPreFlight(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, h.takesPart()
}
