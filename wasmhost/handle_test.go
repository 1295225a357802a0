package wasmhost

import (
	"fmt"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

// handle is as much of the scheduler as a guest may ask for, or act on.
type handle struct {
	*snapshot.Handle
	waiting []*v1.Pod // that Permit delays

	mu      sync.Mutex
	effects []string // what the guest has done
}

func (h *handle) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.effects = append(h.effects, fmt.Sprintf(format, args...))
}

// take returns what the guest has done since the last call.
func (h *handle) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	effects := h.effects
	h.effects = nil
	return effects
}

func (h *handle) GetWaitingPod(uid types.UID) fwk.WaitingPod {
	i := slices.IndexFunc(h.waiting, func(pod *v1.Pod) bool { return pod.UID == uid })
	if i < 0 {
		return nil
	}
	return waitingPod{pod: h.waiting[i], handle: h}
}

func (h *handle) RejectWaitingPod(uid types.UID) bool {
	waits := h.GetWaitingPod(uid) != nil
	if waits {
		h.note("reject %s", uid)
	}
	return waits
}

func (h *handle) EventRecorder() minor.EventRecorder { return recorder{handle: h} }

type waitingPod struct {
	fwk.WaitingPod
	pod    *v1.Pod
	handle *handle
}

func (w waitingPod) Allow(plugin string) { w.handle.note("allow %s of %s", w.pod.UID, plugin) }
func (w waitingPod) GetPod() *v1.Pod     { return w.pod }

type recorder struct{ handle *handle }

func (r recorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

func (r recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	r.handle.note("event %s %s %s: %s, of %s, %s", kind, reason, action, fmt.Sprintf(note, args...), named(regarding), named(related))
}

func named(object runtime.Object) string {
	is, _ := object.(*v1.ObjectReference)
	if is == nil {
		return ""
	}
	return fmt.Sprintf("%s/%s/%s/%s/%s/%s", is.APIVersion, is.Kind, is.Namespace, is.Name, is.UID, is.ResourceVersion)
}
