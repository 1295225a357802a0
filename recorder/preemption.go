package recorder

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
)

// Preemption is how room was made for a pod that no node had room for. What a PodGroup
// pushes out is told of the first of its pods that was tried.
type Preemption struct {
	// Node is the one nominated for the pod; for a PodGroup, that of the first victim.
	Node string `json:"node"`
	// Victims are the pods that were pushed out, as namespace/name. Where
	// preemption goes on during the next cycle they come one by one, even after the
	// attempt's Result.
	Victims []string `json:"victims"`
}

// PushedOut is why a pod had to go.
type PushedOut struct {
	// By is the pod that it made room for, as namespace/name.
	By   string    `json:"by"`
	Node string    `json:"node"`
	Time time.Time `json:"time"`
}

// PushedOut says why the last pod of that name that had to go did.
func (r *Recorder) PushedOut(namespace, name string) (PushedOut, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out, ok := r.pushedOut[types.NamespacedName{Namespace: namespace, Name: name}]
	if !ok {
		return PushedOut{}, false
	}
	return out.public(), true
}

// eviction is that of a pod with a UID, by the attempt for another.
type eviction struct {
	by   *record
	node string
	uid  types.UID
	time time.Time
}

func (e eviction) public() PushedOut {
	return PushedOut{By: e.by.pod().String(), Node: e.node, Time: e.time}
}

func (r *Recorder) addVictim(preemptor metav1.Object, victim *v1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.roomMaker(preemptor)
	if rec == nil {
		return
	}
	if rec.nominated == "" { // by a PodGroup, or not yet
		rec.nominated, rec.PostFilter = victim.Spec.NodeName, &PluginVerdict{Verdict: Passed}
	}
	key := types.NamespacedName{Namespace: victim.Namespace, Name: victim.Name}
	rec.victims = append(rec.victims, key.String())
	r.pushedOut[key] = eviction{rec, victim.Spec.NodeName, victim.UID, time.Now()}
	r.changed()
}

// roomMaker is the newest attempt for a pod that made room: with the last victim gone the
// next attempt may begin before its event is sent.
func (r *Recorder) roomMaker(preemptor metav1.Object) *record {
	name := types.NamespacedName{Namespace: preemptor.GetNamespace(), Name: preemptor.GetName()}
	for _, rec := range slices.Backward(r.pods[name]) {
		if rec.UID == string(preemptor.GetUID()) && rec.makesRoom {
			return rec
		}
	}
	return r.groupMakesRoom(name.String())
}

// nominated is the node that PostFilter names for the pod, or empty. What keeps an
// earlier nomination makes no room.
func nominated(result *framework.PostFilterResult) string {
	if result == nil || result.NominatingInfo == nil || result.Mode() != framework.ModeOverride {
		return ""
	}
	return result.NominatedNodeName
}

// preempted is the reason of the event of a victim. The pod that it made room for
// is the one that the event is related to.
const preempted = "Preempted"

// wrapEvents has the events that a profile's plugins send pass by the recorder, since
// the framework hands on the node alone. It does so before they are queued: none is
// missed, and none comes late. Without the private field no victim is known.
func (s *session) wrapEvents(fwk schedframework.Framework) {
	if recorder := private[minor.EventRecorder](fwk, "eventRecorder"); recorder != nil {
		if logging, ok := any(*recorder).(events.EventRecorderLogger); ok { // which not every minor has there
			*recorder = recordedEvents{logging, s.recorder}
		}
	}
}

type recordedEvents struct {
	events.EventRecorderLogger
	attempts *Recorder
}

func (r recordedEvents) WithLogger(logger klog.Logger) events.EventRecorderLogger {
	return recordedEvents{r.EventRecorderLogger.WithLogger(logger), r.attempts}
}

func (r recordedEvents) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	if reason == preempted {
		victim, _ := regarding.(*v1.Pod)
		preemptor, _ := related.(metav1.Object) // a pod, in a type of the plugin's own
		if victim != nil && preemptor != nil {
			r.attempts.addVictim(preemptor, victim)
		}
	}
	r.EventRecorderLogger.Eventf(regarding, related, eventtype, reason, action, note, args...)
}
