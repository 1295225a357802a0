package recorder

import (
	"context"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// noEvents drops events.
type noEvents struct{}

func (noEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
func (e noEvents) WithLogger(klog.Logger) events.EventRecorderLogger                           { return e }

// wrapped is how DefaultPreemption passes the preemptor.
type wrapped struct{ *v1.Pod }

// preempting has a PostFilter that nominates node-00000.
type preempting struct{ schedframework.Framework }

func (preempting) RunPostFilterPlugins(context.Context, framework.CycleState, *v1.Pod, framework.NodeToStatusReader) (*framework.PostFilterResult, *framework.Status) {
	return schedframework.NewPostFilterResultWithNominatedNode("node-00000"), nil
}

// TestVictimThatIsReportedLateBelongsToTheAttemptThatPreempts: preemption goes on
// during the next attempts, which may be through before its last event.
func TestVictimThatIsReportedLateBelongsToTheAttemptThatPreempts(t *testing.T) {
	r, sched := New(nothing), newRealScheduler(t, 2, plugin{says: map[point]*framework.Status{preFilter: rejected}})
	sched.Profiles["default-scheduler"] = preempting{sched.Profiles["default-scheduler"]}
	defer r.Attach(sched, asTyped)()
	fwk, pod := sched.Profiles["default-scheduler"], newPod("p")
	if _, err := sched.SchedulePod(t.Context(), fwk, schedframework.NewCycleState(), hooks.Enqueue(pod)); err == nil {
		t.Fatal("a node fits")
	}
	fwk.RunPostFilterPlugins(t.Context(), schedframework.NewCycleState(), pod, nil)
	recorded := recordedEvents{noEvents{}, r}
	recorded.Eventf(newPod("early"), wrapped{pod}, v1.EventTypeNormal, preempted, "Preempting", "")
	one(t.Context(), sched, pod)
	recorded.WithLogger(klog.Background()).Eventf(newPod("late"), wrapped{pod}, v1.EventTypeNormal, preempted, "Preempting", "")

	attempts := r.Attempts("ns", "p")
	if len(attempts) != 2 || attempts[0].Preemption != nil {
		t.Fatalf("got %+v", attempts)
	}
	made := attempts[1].Preemption
	if made == nil || made.Node != "node-00000" || !slices.Equal(made.Victims, []string{"ns/early", "ns/late"}) {
		t.Errorf("got %+v", made)
	}
}
