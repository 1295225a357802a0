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
)

// Preemption is how room was made for a pod that no node had room for.
type Preemption struct {
	// Node is the one nominated for the pod.
	Node string `json:"node"`
	// Victims are the pods that were pushed out, as namespace/name. Where
	// preemption goes on beside the next cycle they come one by one, even after the
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

// victim is a pod that was pushed out.
type victim struct {
	key  types.NamespacedName
	uid  types.UID
	time time.Time
}

// preemption is nil unless a node was nominated: then no room was made, whatever
// PostFilter answered.
func (r *record) preemption() *Preemption {
	if r.nominated == "" {
		return nil
	}
	p := &Preemption{Node: r.nominated, Victims: []string{}}
	for _, v := range r.victims {
		p.Victims = append(p.Victims, v.key.String())
	}
	return p
}

// PushedOut says why the last pod of that name that had to go did.
func (r *Recorder) PushedOut(namespace, name string) (PushedOut, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out, ok := r.evictionOf(types.NamespacedName{Namespace: namespace, Name: name})
	return out.PushedOut, ok
}

// eviction is that of the pod with the UID.
type eviction struct {
	PushedOut
	uid types.UID
}

func (r *Recorder) evictionOf(pod types.NamespacedName) (out eviction, ok bool) {
	by := r.pushedOut[pod]
	if by == nil {
		return eviction{}, false
	}
	for _, v := range by.victims {
		if v.key == pod {
			out = eviction{PushedOut{By: by.pod.String(), Node: by.nominated, Time: v.time}, v.uid}
		}
	}
	return out, true
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

// watchVictims listens to the events that a profile's plugins send, since the
// framework hands on the node alone. It does so before they are queued: none is
// missed, and none comes late. Without the private field no victim is known.
func (s *session) watchVictims(fwk schedframework.Framework) {
	if recorder := private[events.EventRecorderLogger](fwk, "eventRecorder"); recorder != nil && *recorder != nil {
		*recorder = watchedEvents{*recorder, s.recorder}
	}
}

type watchedEvents struct {
	events.EventRecorderLogger
	attempts *Recorder
}

// WithLogger is how plugins ask for the recorder, so it hands on the listener.
func (w watchedEvents) WithLogger(logger klog.Logger) events.EventRecorderLogger {
	return watchedEvents{w.EventRecorderLogger.WithLogger(logger), w.attempts}
}

func (w watchedEvents) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	if reason == preempted {
		victim, _ := regarding.(*v1.Pod)
		preemptor, _ := related.(metav1.Object) // a pod, in a type of the plugin's own
		if victim != nil && preemptor != nil {
			w.attempts.pushOut(preemptor, victim)
		}
	}
	w.EventRecorderLogger.Eventf(regarding, related, eventtype, reason, action, note, args...)
}

// pushOut adds a victim to the newest attempt for a pod that made room: with the
// last victim gone the next attempt may begin before its event is sent.
func (r *Recorder) pushOut(preemptor metav1.Object, pod *v1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.pods[types.NamespacedName{Namespace: preemptor.GetNamespace(), Name: preemptor.GetName()}]
	for _, rec := range slices.Backward(kept) {
		if rec.uid == preemptor.GetUID() && rec.makesRoom {
			v := victim{types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod.UID, time.Now()}
			rec.victims = append(rec.victims, v)
			r.pushedOut[v.key] = rec
			r.changed()
			return
		}
	}
}
