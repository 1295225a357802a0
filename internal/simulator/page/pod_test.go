package page

import (
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestHintNamesItsNodeAndItsPod(t *testing.T) {
	shown := func(hint *recorder.Hint) string {
		view := attemptView{Attempt: &recorder.Attempt{Hint: hint}}
		view.Rows.All = 1
		body, err := execute("attempt-body", view)
		testkit.Must(t, err)
		return string(body)
	}
	got := shown(&recorder.Hint{Node: "n-2", Pod: "default/first"})
	if !strings.Contains(got, "Only n-2 was evaluated") || !strings.Contains(got, "<b>default/first</b>") {
		t.Errorf("got %s", got)
	}
	got = shown(nil)
	if strings.Contains(got, "was evaluated") {
		t.Errorf("without a hint: %s", got)
	}
}

func TestPreemptionIsReportedOnlyIfANodeIsNominated(t *testing.T) {
	for _, tt := range []struct {
		name       string
		postFilter recorder.PluginVerdict
		preemption *recorder.Preemption
		want       string
	}{
		{
			"a plugin without a reason",
			recorder.PluginVerdict{Verdict: recorder.Passed},
			nil,
			"no node nominated, no pod preempted",
		},
		{
			"a reason",
			recorder.PluginVerdict{Plugin: "A", Verdict: recorder.Rejected, Reason: "preemption: 0/3 nodes are available"},
			nil,
			"A preemption: 0/3 nodes are available",
		},
		{
			"victims",
			recorder.PluginVerdict{Plugin: "DefaultPreemption", Verdict: recorder.Passed},
			&recorder.Preemption{Node: "n", Victims: []string{"default/low", "other/lower"}},
			"DefaultPreemption nominates node n and preempts 2 pods: default/low, other/lower",
		},
		{
			"a nomination without victims",
			recorder.PluginVerdict{Verdict: recorder.Passed},
			&recorder.Preemption{Node: "n"},
			"Preemption nominates node n; no preempted pod is known",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			attempt := &recorder.Attempt{PostFilter: &tt.postFilter, Preemption: tt.preemption}
			body, err := execute("attempt-body", attemptView{Attempt: attempt})
			testkit.Must(t, err)
			_, after, _ := strings.Cut(string(body), `PostFilter <small>if no node fits</small></h3><p class="event">`)
			line, _, _ := strings.Cut(after, "</p>")
			got := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(line, "")
			testkit.Equal(t, got, tt.want, "PostFilter")
		})
	}
}
