package simulator

import (
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
)

func TestAttemptHasWhatEveryPluginSaid(t *testing.T) {
	for variant, plugin := range map[string]string{"native": "RegexScheduling", "v2": "WasmRegexScheduling"} {
		t.Run(variant, func(t *testing.T) {
			use(t, variant)
			addNodes(t, "kubecon-1", "kubecon-2", "other")
			addPod(t, "there", "kubecon-")
			a := attempt(t, "there", recorder.Scheduled)
			if !strings.HasPrefix(a.Node, "kubecon-") || !strings.Contains(a.Message, a.Node) || a.Total != 3 || a.Duration <= 0 || a.Number != 1 {
				t.Errorf("got %+v", a)
			}
			rows := a.Nodes()
			if len(rows) != 3 || rows[0].Node != "other" || rows[0].Reason == "" || rows[1].Verdict != recorder.Passed {
				t.Fatalf("got rows %+v", rows)
			}
			column := columnOf(t, a, plugin)
			other, there := a.Cell(a.Groups[0], column), a.Cell(a.Groups[1], column)
			if other != recorder.Rejected && other != recorder.Excluded || there != recorder.Passed {
				t.Errorf("the plugin's cells are %s and %s", other, there)
			}
			for name, said := range map[string][]recorder.PluginVerdict{
				"NodeAffinity": a.PreScore, "VolumeBinding": slices.Concat(a.Reserve, a.PreBind), "DefaultBinder": a.Bind,
			} {
				heard := slices.ContainsFunc(said, func(v recorder.PluginVerdict) bool {
					return v.Plugin == name && (v.Verdict == recorder.Passed || v.Verdict == recorder.Skipped)
				})
				if !heard {
					t.Errorf("%s: got %+v", name, said)
				}
			}
			scores := a.Scores()
			if len(scores) != 2 || scores[0].Total < scores[1].Total || len(scores[0].Cells) != len(a.ScoreColumns) || len(a.ScoreColumns) == 0 {
				t.Errorf("got scores %+v of %+v", scores, a.ScoreColumns)
			}
		})
	}
}

func TestEachAttemptIsKept(t *testing.T) {
	use(t, "native")
	addPod(t, "p", "^late$")
	first := attempt(t, "p", recorder.Unschedulable)
	if first.Total != 0 || len(first.Nodes()) != 0 {
		t.Errorf("without nodes: got %+v", first)
	}
	makeNodes(t, "early")
	eventually(t, "a second attempt", func() bool { return len(sim.Recorder().Attempts("default", "p")) > 1 })
	makeNodes(t, "late")
	last := attempt(t, "p", recorder.Scheduled)
	all := sim.Recorder().Attempts("default", "p")
	if last.Node != "late" || last.Number != len(all) || all[0].ID != last.ID || all[len(all)-1].Number != 1 {
		t.Errorf("got %+v", all)
	}
	found, ok := sim.Recorder().Attempt("default", "p", all[len(all)-2].ID)
	if !ok || found.Result != recorder.Unschedulable || !strings.HasPrefix(found.PostFilter.Reason, "no new claims to deallocate, preemption: 0/1 nodes") {
		t.Errorf("got %+v", found)
	}
}
