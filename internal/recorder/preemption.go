package recorder

import (
	"cmp"
	"fmt"
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
	"wasmkwokwizardry.io/regex-scheduling/internal/private"
)

// Preemption is that by a pod. A PodGroup's is reported for the first of its pods that the
// scheduler tried.
type Preemption struct {
	// Node is the one nominated for the pod; for a PodGroup, that of the first victim.
	Node string `json:"node"`
	// Victims are the preempted pods, as namespace/name. Asynchronous preemption adds
	// them one by one, even after the attempt's Result.
	Victims []string `json:"victims"`
}

// Preempted is why a pod was preempted.
type Preempted struct {
	// By is the preemptor, as namespace/name.
	By   string    `json:"by"`
	Node string    `json:"node"`
	Time time.Time `json:"time"`
}

// Preempted is why the last preempted pod of that name was.
func (r *Recorder) Preempted(namespace, name string) (Preempted, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out, ok := r.preempted[types.NamespacedName{Namespace: namespace, Name: name}]
	return out.Preempted, ok
}

// eviction is the eviction of a pod with a UID, by another's attempt.
type eviction struct {
	Preempted
	by  *record
	uid types.UID
}

func (r *Recorder) addVictim(preemptor metav1.Object, victim *v1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.preemptor(preemptor)
	if rec == nil {
		return
	}
	if rec.nominated == "" { // a PodGroup preempts, or PostFilter has not returned
		rec.nominated, rec.PostFilter = victim.Spec.NodeName, &PluginVerdict{Verdict: Passed}
	}
	key := types.NamespacedName{Namespace: victim.Namespace, Name: victim.Name}
	rec.victims = append(rec.victims, key.String())
	r.preempted[key] = eviction{Preempted{rec.pod().String(), victim.Spec.NodeName, time.Now()}, rec, victim.UID}
	r.changed()
}

// preemptor is the newest attempt of a pod that preempts others. It need not be its newest
// one: the next may begin before the last victim's event is sent.
func (r *Recorder) preemptor(preemptor metav1.Object) *record {
	name := types.NamespacedName{Namespace: preemptor.GetNamespace(), Name: preemptor.GetName()}
	for _, rec := range slices.Backward(r.pods[name]) {
		if rec.UID == string(preemptor.GetUID()) && rec.preempts {
			return rec
		}
	}
	return r.groupPreemptor(name.String())
}

// nominated is the node that PostFilter nominates for the pod, or empty. To keep an
// earlier nomination is no preemption.
func nominated(result *framework.PostFilterResult) string {
	if result == nil || result.NominatingInfo == nil || result.Mode() != framework.ModeOverride {
		return ""
	}
	return result.NominatedNodeName
}

// preempted is the reason of a victim's event, which is related to the preemptor.
const preempted = "Preempted"

// wrapEvents reads the victims from the events that a profile's plugins send, since the
// framework returns the node alone. It does so before events are queued: none is late or
// lost. Without the private field no victim is known.
func (s *session) wrapEvents(fwk schedframework.Framework) {
	recorder := private.Field[minor.EventRecorder](fwk, "eventRecorder")
	if recorder != nil {
		if logging, ok := any(*recorder).(events.EventRecorderLogger); ok { // not in every minor
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

// PodGroup is an attempt for all pending pods of a PodGroup, each of which has an attempt
// in it. They are bound once enough of them fit.
type PodGroup struct {
	Name   string    `json:"name"`             // with its namespace
	Time   time.Time `json:"time"`             // when it began
	Pods   int       `json:"pods"`             // how many were pending
	Fit    int       `json:"fit"`              // for how many of them a node passes
	Reason string    `json:"reason,omitempty"` // why all of them stay pending, or empty

	tryOut bool // preemption's dry run is under way
}

// Note is what to add to a pod's own reason, if its PodGroup stays pending.
func (g *PodGroup) Note() string {
	if g == nil || g.Reason == "" {
		return ""
	}
	return fmt.Sprintf("; PodGroup %s waits: %d of %d pods fit", g.Name, g.Fit, g.Pods)
}

func (g *PodGroup) isTryOut() bool { return g != nil && g.tryOut }

// taken is called with what the scheduler takes from its queue: a group, or a pod alone.
func (s *session) taken(group string, pods int) {
	s.group.Store(nil)
	if group != "" {
		s.group.Store(&PodGroup{Name: group, Time: time.Now(), Pods: pods})
	}
}

func (s *session) tryOut(on bool) {
	group := s.group.Load()
	s.recorder.update(func() { group.tryOut, group.Reason = on, cmp.Or(group.Reason, "no node would do for any of them") })
}

// groupPreemptor is the first attempt of the newest cycle in which a PodGroup did not fit.
func (r *Recorder) groupPreemptor(group string) (first *record) {
	for at := r.last.Back(); at != nil; at = at.Prev() {
		switch rec := at.Value.(*record); {
		case first != nil && rec.PodGroup != first.PodGroup:
			return first
		case first != nil, rec.PodGroup != nil && rec.PodGroup.Name == group && rec.PodGroup.Reason != "":
			first = rec
		}
	}
	return first
}
