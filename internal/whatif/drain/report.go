package drain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// Counts are the numbers of an answer.
type Counts struct {
	Pods       int `json:"pods"`                 // that left their nodes, or were to
	Moved      int `json:"moved"`                // to another node, or recreated on the same
	Pending    int `json:"pending"`              // without a node; also pods that cannot leave theirs
	NotCreated int `json:"notCreated,omitempty"` // since the API server rejects what would take their place
	Nodes      int `json:"nodes"`                // that were tried
	Go         int `json:"go"`                   // nodes that go, are replaced, or fail
}

// Counts counts the pods and the nodes of the result.
func (r *Result) Counts() Counts {
	c := Counts{Pods: len(r.Moves), Nodes: r.Tried, Go: len(r.Go)}
	for _, move := range r.Moves {
		if move.NotCreated {
			c.NotCreated++
		}
	}
	c.Pending = r.Lost() - c.NotCreated
	c.Moved = c.Pods - r.Lost()
	return c
}

// MarshalJSON writes the answer first.
func (r Result) MarshalJSON() ([]byte, error) {
	type fields Result
	return json.Marshal(struct {
		Verdict string `json:"verdict"`
		Counts  Counts `json:"counts"`
		fields
	}{r.Verdict(), r.Counts(), fields(r)})
}

// Report is the result for people. Again is the command that drains the nodes that go; it may be empty.
func (r *Result) Report(again string) report.Report {
	var text []string
	if r.Shrink {
		text = []string{
			"This took " + report.Plural(r.Trials, "trial") + ", the emptiest node first; another order may find more.",
			r.cost(),
		}
	}
	var deletes report.Section
	if len(r.Delete) > 0 {
		deletes.Text = []string{"Then delete " + report.Few(r.Delete) + ": their kubelets do not answer, so that pods stay terminating there, and a drain does not end, before that."}
	}
	about := map[string][]string{} // pods by reason
	for _, move := range r.Moves {
		about[move.Reason] = append(about[move.Reason], move.Pod)
	}
	return report.Report{Answer: r.Verdict() + ".", Sections: report.Once(slices.Concat(
		[]report.Section{r.Basis.Lacking(), {Text: append(text, r.Summary(), r.between()), Run: again}, deletes},
		r.Timeline.Sections(),
		[]report.Section{r.Workloads(), r.Pods(), r.Blocked()},
		r.Basis.Remedies(),
		[]report.Section{{Text: []string{r.Basis.String()}}},
	), about)}
}

// between is how many pods did not run for a while.
func (r *Result) between() string {
	if r.Timeline == nil {
		return ""
	}
	pods, longest := r.Timeline.Longest()
	if pods == 0 {
		return ""
	}
	return fmt.Sprintf("In between, %s did not run, for up to %s.", report.Plural(pods, "pod"), longest)
}

// cost is what the nodes that go cost, if there are prices.
func (r *Result) cost() string {
	if !r.Priced {
		return ""
	}
	text := strings.TrimSpace(fmt.Sprintf("Removing them saves %.2f %s", r.Saves, r.Currency)) + " an hour"
	if len(r.Unpriced) > 0 {
		text += ", without " + report.Few(r.Unpriced) + ", whose price is not known"
	}
	return text + "."
}

// Verdict is the result in a sentence, without an end.
func (r *Result) Verdict() string { return r.Basis.Qualify(r.verdict()) }

func (r *Result) verdict() string {
	what := "Evicting these pods"
	switch {
	case r.Upgrade || r.Fail:
		return r.sentence()
	case r.Shrink && len(r.Go) == 0:
		return fmt.Sprintf("You can remove none of %s: each has a pod that cannot leave it", report.Plural(r.Tried, "node"))
	case r.Shrink:
		return fmt.Sprintf("You can remove %d of %s, and every running pod still has a node", len(r.Go), report.Plural(r.Tried, "node"))
	case r.Tried > 0:
		what = "Draining " + report.Few(r.Go)
	}
	lost, all := r.Lost(), len(r.Moves)
	switch {
	case len(r.Stay) > 0:
		return fmt.Sprintf("%s would not end, since pod %s cannot leave %s: %s", what, r.Stay[0].Pod, r.Stay[0].Node, r.Stay[0].Reason)
	case all == 0:
		return what + " moves no pod"
	case lost > 0:
		return fmt.Sprintf("%s would leave %d of %s without another node", what, lost, report.Plural(all, "pod"))
	case all == 1:
		return what + " would move 1 pod, and there is a node for it"
	}
	return fmt.Sprintf("%s would move %s, and there is a node for each of them", what, report.Plural(all, "pod"))
}

// Summary counts where the pods go.
func (r *Result) Summary() string {
	same, notCreated, unschedulable := 0, 0, r.Lost()
	for _, move := range r.Moves {
		if move.To == move.From {
			same++
		}
		if move.NotCreated {
			notCreated++
		}
	}
	text := fmt.Sprintf("%s: %d to another node", report.Plural(len(r.Moves), "pod"), len(r.Moves)-same-unschedulable)
	if same > 0 {
		text += fmt.Sprintf(", %d back to the same", same)
	}
	text += fmt.Sprintf(", %d unschedulable", unschedulable-notCreated)
	if notCreated > 0 {
		text += fmt.Sprintf(", %d not created", notCreated)
	}
	return text + "."
}

// Workloads counts the pods of each workload, first where most are unschedulable.
func (r *Result) Workloads() report.Section {
	type sum struct {
		name                            string
		pods, unschedulable, notCreated int
		reason                          string
	}
	sums := map[string]sum{}
	for _, move := range r.Moves {
		name := cmp.Or(move.Workload, "Pod "+move.Pod)
		of := sums[name]
		of.name = name
		of.pods++
		switch {
		case move.NotCreated:
			of.notCreated++
		case move.To == "":
			of.unschedulable++
		}
		of.reason = cmp.Or(of.reason, move.Reason)
		sums[name] = of
	}
	all := slices.SortedFunc(maps.Values(sums), func(a, b sum) int {
		return cmp.Or(cmp.Compare(b.unschedulable+b.notCreated, a.unschedulable+a.notCreated), cmp.Compare(a.name, b.name))
	})
	rows := [][]string{{"WORKLOAD", "PODS", "UNSCHEDULABLE", "NOT CREATED", "REASON"}}
	any := false
	for _, of := range all {
		any = any || of.notCreated > 0
		rows = append(rows, []string{of.name, fmt.Sprint(of.pods), fmt.Sprint(of.unschedulable), fmt.Sprint(of.notCreated), of.reason})
	}
	for i := range rows {
		if !any {
			rows[i] = slices.Delete(rows[i], 3, 4)
		}
	}
	return report.Table("", rows[0], rows[1:])
}

// Pods shows where each pod goes.
func (r *Result) Pods() report.Section {
	var rows [][]string
	for _, move := range r.Moves {
		if move.PreemptedBy != "" {
			move.Reason = strings.TrimSuffix("preempted by "+move.PreemptedBy+"; "+move.Reason, "; ")
		}
		rows = append(rows, []string{move.Pod, move.From, cmp.Or(engine.Place(move.To, move.Feasible, move.Sampled), "-"), move.Reason})
	}
	return report.Table("", []string{"POD", "FROM", "TO", "REASON"}, rows)
}

// Blocked are nodes that cannot go, each with a pod that keeps it, by the reason.
func (r *Result) Blocked() (s report.Section) {
	var reasons []string
	for _, node := range r.Stay {
		reasons = append(reasons, node.Reason)
	}
	same, by := report.SameBut(reasons), map[string][]string{}
	for _, node := range r.Stay {
		by[same[node.Reason]] = append(by[same[node.Reason]], fmt.Sprintf("%s (%s)", node.Node, node.Pod))
	}
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		item := report.Item{Text: report.Plural(len(by[reason]), "node") + " cannot go: " + reason, Lines: []string{report.Few(by[reason])}}
		s.List = append(s.List, item)
	}
	return s
}
