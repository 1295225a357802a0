package page

import (
	"net/url"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// invalidRegex is an attempt that PreFilter of a plugin ends for all nodes.
func invalidRegex() *recorder.Attempt {
	const reason = "annotation regex: trailing backslash"
	group := recorder.Group{Verdict: recorder.Excluded, Column: 0, Reason: reason}
	return &recorder.Attempt{
		Result: recorder.Unschedulable, Total: 1, Message: "0/1 nodes are available: " + reason, Groups: []recorder.Group{group},
		Columns:   []recorder.Column{{Name: "WasmRegexScheduling", Failed: 1}, {Name: "NodePorts"}},
		PreFilter: []recorder.PluginVerdict{{Plugin: "WasmRegexScheduling", Verdict: recorder.Rejected, Reason: "1 " + reason}},
	}
}

func TestErrorIsSaidOnceInAnAttempt(t *testing.T) {
	view := attemptView{Attempt: invalidRegex()}
	view.fill(url.Values{})
	view.Rows = pageOf[row]{pager{All: 1}, []row{{view.Groups[0], "kubecon-1"}}}
	text := textOf(t, "attempt-body", view)
	if strings.Count(text, "trailing backslash") != 1 || !strings.Contains(text, "kubecon-1 excluded") {
		t.Errorf("it says %s", text)
	}
	body, err := execute("attempt-body", view)
	testkit.Must(t, err)
	testkit.Has(t, string(body), `<td class="cell is-Excluded"><svg viewBox="0 0 16 16" role="img" aria-label="excluded">`, // of the plugin that excludes the node
		">Wasm<wbr>Regex<wbr>Scheduling</span>") // the head breaks between words
}

func TestEqualScoresSayThatChanceChose(t *testing.T) {
	for ties, want := range map[int]bool{1: false, 3: true} {
		view := attemptView{Attempt: &recorder.Attempt{}, Ties: ties}
		view.Ranking.All = 3
		got := strings.Contains(textOf(t, "attempt-body", view), "3 nodes have the highest total: chance chose one of them.")
		testkit.Equal(t, got, want, "with %d of the same total it is said", ties)
	}
}
