package recorder

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestManyFiltersAtOnce is one for the race detector, with a reader at the same time.
func TestManyFiltersAtOnce(t *testing.T) {
	changes := make(chan struct{}, 1)
	r, sched := New(func() {
		select {
		case changes <- struct{}{}:
		default:
		}
	}), newRealScheduler(t, 100)
	detach := r.Attach(sched, asTyped)
	defer detach()
	ctx, cancel := context.WithCancel(t.Context())
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-changes:
				for _, a := range r.Attempts("ns", "p") {
					a.Nodes()
				}
			case <-ctx.Done():
				return
			}
		}
	})
	for range 2 * MaxPerPod {
		one(ctx, sched, newPod("p"))
	}
	cancel()
	reader.Wait()
	attempts := r.Attempts("ns", "p")
	if len(attempts) != MaxPerPod {
		t.Fatalf("%d attempts are kept", len(attempts))
	}
	for _, a := range attempts {
		if a.Result != Failed || a.Message != "no node fits" || a.Evaluated != 100 || a.Columns[4].Failed != 50 || len(a.Nodes()) != 100 {
			t.Fatalf("got %+v", a)
		}
	}
}

func TestStoppedSchedulerLeavesNoAttemptPending(t *testing.T) {
	r, sched := New(nothing), newRealScheduler(t, 2)
	detach := r.Attach(sched, asTyped)
	sched.SchedulePod(t.Context(), sched.Profiles["default-scheduler"], schedframework.NewCycleState(), hooks.Enqueue(newPod("p"))) // and no end
	detach()
	a := r.Attempts("ns", "p")[0]
	if a.Result != Failed || a.Message == "" {
		t.Errorf("got %+v", a)
	}
}

func TestBindingThatOutlivesItsSchedulerIsStillRecorded(t *testing.T) {
	r, sched := New(nothing), newRealScheduler(t, 2)
	detach := r.Attach(sched, asTyped)
	fwk, pod := sched.Profiles["default-scheduler"], newPod("p")
	sched.SchedulePod(t.Context(), fwk, schedframework.NewCycleState(), hooks.Enqueue(pod))
	detach()
	fwk.RunPostBindPlugins(t.Context(), schedframework.NewCycleState(), pod, "node-00000")
	a := r.Attempts("ns", "p")[0]
	if a.Result != Scheduled || a.Node != "node-00000" {
		t.Errorf("got %+v", a)
	}
}

func TestLatestAttemptIsOneThatHasEnded(t *testing.T) {
	r, sched := New(nothing), newRealScheduler(t, 2)
	defer r.Attach(sched, asTyped)()
	one(t.Context(), sched, newPod("p"))
	sched.SchedulePod(t.Context(), sched.Profiles["default-scheduler"], schedframework.NewCycleState(), hooks.Enqueue(newPod("p"))) // and no end
	a, ok := r.Latest("ns", "p")
	if !ok || a.Number != 1 || a.Result != Failed {
		t.Errorf("got %+v, %v", a, ok)
	}
	_, ok = r.Latest("ns", "other")
	testkit.Equal(t, ok, false, "a pod without attempts has one")
}

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

// TestEachPluginIsRecordedAtEachPoint puts plugins into kube-scheduler's own
// framework; of twelve the first three are looked at.
func TestEachPluginIsRecordedAtEachPoint(t *testing.T) {
	no := framework.NewStatus(framework.UnschedulableAndUnresolvable, "no")
	broken := framework.NewStatus(framework.Error, "broken")
	skip, wait := framework.NewStatus(framework.Skip), framework.NewStatus(framework.Wait)
	for _, tt := range []struct {
		name   string
		at     point
		second *framework.Status
		want   [3]Verdict // at that point
		next   Verdict    // of all, at the point after it
	}{
		{"PreFilter, all pass, and one is not applicable", preFilter, skip, [3]Verdict{Passed, Skipped, Passed}, Passed},
		{"PreFilter, one rejects, and the rest does not run", preFilter, no, [3]Verdict{Passed, Rejected, NotRun}, NotRun},
		{"PreFilter, one rejects, and the rest runs", preFilter, framework.NewStatus(framework.Unschedulable, "no"), [3]Verdict{Passed, Rejected, Passed}, NotRun},
		{"PreFilter, one fails", preFilter, broken, [3]Verdict{Passed, Errored, NotRun}, NotRun},
		{"PreScore, one is not applicable", preScore, skip, [3]Verdict{Passed, Skipped, Passed}, Passed},
		{"PreScore, one fails", preScore, broken, [3]Verdict{Passed, Errored, NotRun}, NotRun},
		{"Reserve, one rejects", reserve, no, [3]Verdict{Passed, Rejected, NotRun}, NotRun},
		{"Permit, one delays the binding", permit, wait, [3]Verdict{Passed, Waits, Passed}, Passed},
		{"Permit, one rejects", permit, no, [3]Verdict{Passed, Rejected, NotRun}, NotRun},
		{"PreBind, one is not applicable", preBind, skip, [3]Verdict{Passed, Skipped, Passed}, Passed},
		{"PreBind, one fails", preBind, broken, [3]Verdict{Passed, Errored, NotRun}, NotRun},
		{"Bind, the first leaves it to the second", bind, framework.NewStatus(framework.Success), [3]Verdict{Skipped, Passed, NotRun}, ""},
		{"Bind, one fails", bind, broken, [3]Verdict{Skipped, Errored, NotRun}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := []plugin{{says: map[point]*framework.Status{bind: skip}}, {says: map[point]*framework.Status{tt.at: tt.second}}, {}}
			r, sched := New(nothing), newRealScheduler(t, 4, first...)
			defer r.Attach(sched, asTyped)()
			pod := newPod("p")
			if err := place(t.Context(), sched, pod); err != nil {
				queued := &schedframework.QueuedPodInfo{PodInfo: &schedframework.PodInfo{Pod: pod}}
				sched.FailureHandler(t.Context(), sched.Profiles["default-scheduler"], queued, framework.AsStatus(err), nil, time.Now())
			}
			a := r.Attempts("ns", "p")[0]
			verdicts := at(a, tt.at)
			for i, want := range tt.want {
				if verdicts[i].Verdict != want || (verdicts[i].Reason != "") != (want == Rejected || want == Errored) {
					t.Errorf("%s: got %+v, want %s", verdicts[i].Plugin, verdicts[i], want)
				}
			}
			if tt.at == permit && verdicts[1].Timeout != time.Minute {
				t.Errorf("got %+v", verdicts[1])
			}
			if tt.at == bind {
				return
			}
			after := at(a, tt.at+1)
			if len(after) != plugins || after[0].Verdict != tt.next && tt.at+1 != bind {
				t.Errorf("at the next point: got %+v", after)
			}
		})
	}
}

// at are the verdicts at a point.
func at(a Attempt, p point) []PluginVerdict {
	return [...][]PluginVerdict{a.PreFilter, a.PreScore, a.Reserve, a.Permit, a.PreBind, a.Bind}[p]
}

func TestPluginsThatNameNoNodeInCommon(t *testing.T) {
	rec := &record{verdicts: verdicts{preFilter: {
		{Plugin: "A", Verdict: Passed, LimitsNodes: true}, {Plugin: "B", Verdict: Passed, LimitsNodes: true}, {Plugin: "C", Verdict: Skipped},
	}}}
	rec.noNodeLeft(framework.NewStatus(framework.UnschedulableAndUnresolvable, "none left"))
	all := rec.verdicts[preFilter]
	if all[1].Verdict != Rejected || all[1].Reason != "none left" || all[0].Verdict != Passed {
		t.Errorf("got %+v", all)
	}
}
