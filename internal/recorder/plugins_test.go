package recorder

import (
	"testing"
	"time"

	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

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
