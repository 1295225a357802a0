package wasmhost

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

// handle is as much of the scheduler as a guest may ask for.
type handle struct {
	*snapshot.Handle
	waiting types.UID
	allowed []string // plugin and pod
	events  []string
}

func (h *handle) GetWaitingPod(uid types.UID) fwk.WaitingPod {
	if uid != h.waiting {
		return nil
	}
	return waitingPod{name: string(uid), handle: h}
}

func (h *handle) EventRecorder() minor.EventRecorder { return recorder{handle: h} }

type waitingPod struct {
	fwk.WaitingPod
	name   string
	handle *handle
}

func (w waitingPod) Allow(plugin string) {
	w.handle.allowed = append(w.handle.allowed, plugin+" "+w.name)
}

func (w waitingPod) GetPod() *v1.Pod { return pod(w.name) }

type recorder struct {
	minor.EventRecorder
	handle *handle
}

// Eventf implements the recorder. The scenarios have what an event is about.
func (r recorder) Eventf(_, _ runtime.Object, _, reason, action, note string, args ...any) {
	r.handle.events = append(r.handle.events, fmt.Sprint(reason, ", ", action, ", ", fmt.Sprintf(note, args...)))
}
