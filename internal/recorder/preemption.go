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
	if !ok {
		return Preempted{}, false
	}
	return out.public(), true
}

// eviction is the eviction of a pod with a UID, by another's attempt.
type eviction struct {
	by   *record
	node string
	uid  types.UID
	time time.Time
}

func (e eviction) public() Preempted {
	return Preempted{By: e.by.pod().String(), Node: e.node, Time: e.time}
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
	r.preempted[key] = eviction{rec, victim.Spec.NodeName, victim.UID, time.Now()}
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
