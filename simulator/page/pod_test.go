package page

import (
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/recorder"
)

func TestAHintNamesItsNodeAndItsPod(t *testing.T) {
	shown := func(hint *recorder.Hint) string {
		view := attemptView{Attempt: &recorder.Attempt{Hint: hint}}
		view.Rows.All = 1
		body, err := execute("attempt-body", view)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if got := shown(&recorder.Hint{Node: "n-2", Pod: "default/first"}); !strings.Contains(got, "Only n-2 was looked at") || !strings.Contains(got, "<b>default/first</b>") {
		t.Errorf("got %s", got)
	}
	if got := shown(nil); strings.Contains(got, "was looked at") {
		t.Errorf("without a hint: %s", got)
	}
}

func TestPreemptionIsClaimedOnlyWhereANodeWasNominated(t *testing.T) {
	for _, tt := range []struct {
		name       string
		postFilter recorder.PluginVerdict
		preemption *recorder.Preemption
		want       string
	}{
		{
			"a plugin that has nothing to say",
			recorder.PluginVerdict{Verdict: recorder.Passed},
			nil,
			"no node was nominated, and no pod pushed out",
		},
		{
			"nobody has anything to say",
			recorder.PluginVerdict{Plugin: "A", Verdict: recorder.Rejected},
			nil,
			"A no node was nominated, and no pod pushed out",
		},
		{
			"a reason",
			recorder.PluginVerdict{Plugin: "A", Verdict: recorder.Rejected, Reason: "preemption: 0/3 nodes are available"},
			nil,
			"A preemption: 0/3 nodes are available",
		},
		{
			"one victim",
			recorder.PluginVerdict{Verdict: recorder.Passed},
			&recorder.Preemption{Node: "n", Victims: []string{"default/low"}},
			"Preemption makes room on node n, now nominated: 1 pod pushed out: default/low",
		},
		{
			"victims",
			recorder.PluginVerdict{Plugin: "DefaultPreemption", Verdict: recorder.Passed},
			&recorder.Preemption{Node: "n", Victims: []string{"default/low", "other/lower"}},
			"DefaultPreemption makes room on node n, now nominated: 2 pods pushed out: default/low, other/lower",
		},
		{
			"a nomination of somebody else's",
			recorder.PluginVerdict{Verdict: recorder.Passed},
			&recorder.Preemption{Node: "n"},
			"Preemption nominates node n; no pod is known to have been pushed out",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			attempt := &recorder.Attempt{PostFilter: &tt.postFilter, Preemption: tt.preemption}
			body, err := execute("attempt-body", attemptView{Attempt: attempt})
			if err != nil {
				t.Fatal(err)
			}
			_, after, _ := strings.Cut(string(body), `PostFilter</h3><p class="event">`)
			line, _, _ := strings.Cut(after, "</p>")
			if got := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(line, ""); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
