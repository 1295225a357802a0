//go:build kubernetes_1_35

package minor

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
)

// PreFlight implements PreBindPreFlight for a plugin that embeds it, and that has
// no more to say there than a status.
type PreFlight struct {
	Status func(fwk.CycleState, *v1.Pod) *fwk.Status
}

// PreBindPreFlight implements fwk.PreBindPlugin.
func (p PreFlight) PreBindPreFlight(_ context.Context, state fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	return p.Status(state, pod)
}

// Called is a plugin with something around PreBindPreFlight.
type Called struct {
	fwk.PreBindPlugin
	Around Around
}

// PreBindPreFlight implements fwk.PreBindPlugin.
func (p Called) PreBindPreFlight(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.Around(ctx, Call{Plugin: p.Name(), Point: "PreBindPreFlight", State: state, Pod: pod, Status: &status})()
	return p.PreBindPlugin.PreBindPreFlight(ctx, state, pod, node)
}

// EventRecorder is what a fwk.Handle returns, for handles that tests make.
type EventRecorder = events.EventRecorder

// PodGroupOf is the name of the PodGroup that a pod is of, which no pod has here.
func PodGroupOf(*v1.Pod) string { return "" }

// Synced is what an informer, or a registration with one, says of itself that has always synced.
type Synced struct{}

// HasSynced is true.
func (Synced) HasSynced() bool { return true }
