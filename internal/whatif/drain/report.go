package drain

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/words"
)

//go:embed drain.tmpl
var drainText string

// Report is a result for people. The first row of a table is its head.
type Report struct {
	*Result
	Saves     float64             `json:"savesPerHour,omitempty"`
	Unpriced  []string            `json:"withoutPrice,omitempty"` // nodes that go, and are not in Saves
	Currency  string              `json:"-"`                      // of Saves
	Priced    bool                `json:"-"`                      // there are prices
	Shrink    bool                `json:"-"`
	Of        int                 `json:"-"` // nodes that were tried; 0: pods were chosen
	Again     string              `json:"-"` // the command that drains the nodes that go; may be empty
	Workloads [][]string          `json:"-"`
	Pods      [][]string          `json:"-"`
	Blocked   map[string][]string `json:"-"` // nodes that cannot go, by the reason
}

// NewReport makes the report of what [Drain] or [Shrink] found. Prices may be nil.
func NewReport(o Options, shrink bool, found *Result, prices *Prices) *Report {
	r := &Report{Result: found, Shrink: shrink, Of: len(o.Nodes), Blocked: map[string][]string{}}
	if prices != nil {
		r.addPrices(o.Cluster.Nodes, prices)
	}
	r.Workloads, r.Pods = byWorkload(found.Moves), byPod(found.Moves)
	for _, node := range found.Stay {
		r.Blocked[node.Reason] = append(r.Blocked[node.Reason], fmt.Sprintf("%s (%s)", node.Node, node.Pod))
	}
	return r
}

// addPrices adds up what the nodes that go cost an hour, and names those without a price.
func (r *Report) addPrices(nodes []v1.Node, prices *Prices) {
	r.Priced = true
	r.Currency = prices.Currency
	for _, node := range nodes {
		if !slices.Contains(r.Go, node.Name) {
			continue
		}
		price, known := prices.of(&node)
		if !known {
			r.Unpriced = append(r.Unpriced, node.Name)
		}
		r.Saves += price
	}
	r.Saves = math.Round(100*r.Saves) / 100
}

// Write writes the report as "table", "markdown" or "json".
func (r *Report) Write(out io.Writer, format string) error {
	if format == "json" {
		return words.JSON(out, r)
	}
	table := words.Tabbed
	if format == "markdown" {
		table = words.Markdown
	}
	functions := template.FuncMap{"table": table, "plural": words.Plural, "few": words.Few}
	aligned := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	err := template.Must(template.New("").Funcs(functions).Parse(drainText)).Execute(aligned, r)
	return cmp.Or(err, aligned.Flush())
}

// Verdict is the result in a sentence.
func (r *Report) Verdict() string {
	what := "Evicting these pods"
	switch {
	case r.Shrink && len(r.Go) == 0:
		return fmt.Sprintf("You can remove none of %s: each has a pod without another node", words.Plural(r.Of, "node"))
	case r.Shrink:
		return fmt.Sprintf("You can remove %d of %s, and every running pod still has a node", len(r.Go), words.Plural(r.Of, "node"))
	case r.Of > 0:
		what = "Draining " + words.Few(r.Go)
	}
	switch lost, all := r.Lost(), len(r.Moves); {
	case all == 0:
		return what + " moves no pod"
	case lost > 0:
		return fmt.Sprintf("%s would leave %d of %s without another node", what, lost, words.Plural(all, "pod"))
	case all == 1:
		return what + " would move 1 pod, and there is a node for it"
	}
	return fmt.Sprintf("%s would move %s, and there is a node for each of them", what, words.Plural(len(r.Moves), "pod"))
}

// Summary counts where the pods go.
func (r *Report) Summary() string {
	same, unschedulable := 0, r.Lost()
	for _, move := range r.Moves {
		if move.To == move.From {
			same++
		}
	}
	text := fmt.Sprintf("%s: %d to another node", words.Plural(len(r.Moves), "pod"), len(r.Moves)-same-unschedulable)
	if same > 0 {
		text += fmt.Sprintf(", %d back to the same", same)
	}
	return text + fmt.Sprintf(", %d unschedulable.", unschedulable)
}

// More is how many pods the table of pods does not show.
func (r *Report) More() int { return max(0, len(r.Moves)-words.ShownRows) }

// byWorkload counts the pods of each workload, first where most are unschedulable.
func byWorkload(moves []engine.Move) [][]string {
	type sum struct {
		name                string
		pods, unschedulable int
		reason              string
	}
	sums := map[string]sum{}
	for _, move := range moves {
		name := cmp.Or(move.Workload, "Pod "+move.Pod)
		of := sums[name]
		of.name = name
		of.pods++
		if move.To == "" {
			of.unschedulable++
			of.reason = cmp.Or(of.reason, move.Reason)
		}
		sums[name] = of
	}
	all := slices.SortedFunc(maps.Values(sums), func(a, b sum) int {
		return cmp.Or(cmp.Compare(b.unschedulable, a.unschedulable), cmp.Compare(a.name, b.name))
	})
	rows := [][]string{{"WORKLOAD", "PODS", "UNSCHEDULABLE", "REASON"}}
	for _, of := range all[:min(words.ShownRows, len(all))] {
		rows = append(rows, []string{of.name, fmt.Sprint(of.pods), fmt.Sprint(of.unschedulable), of.reason})
	}
	return rows
}

// byPod shows where each pod goes.
func byPod(moves []engine.Move) [][]string {
	rows := [][]string{{"POD", "FROM", "TO", "REASON"}}
	for _, move := range moves[:min(words.ShownRows, len(moves))] {
		if move.PreemptedBy != "" {
			move.Reason = strings.TrimSuffix("preempted by "+move.PreemptedBy+"; "+move.Reason, "; ")
		}
		rows = append(rows, []string{move.Pod, move.From, cmp.Or(engine.Place(move.To, move.Feasible), "-"), move.Reason})
	}
	return rows
}
