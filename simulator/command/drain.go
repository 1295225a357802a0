package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/whatif/words"
)

const (
	drainName  = "drain"
	shrinkName = "shrink"
)

// removal is the command drain, or shrink.
type removal struct {
	drain.Options
	copyFlags
	do                   func(context.Context, drain.Options) (*drain.Result, error)
	plugins              frameworkruntime.Registry
	selector, pricesFile string
	pods                 string
	format               string
	prices               *compare.Prices // nil if none are given
	nodes                []side.Node     // of the cluster
	progress             *printer
}

func newDrain(plugins frameworkruntime.Registry) *cobra.Command {
	r := &removal{do: drain.Drain}
	cmd := r.command(plugins, drainName+" {NODE… | --selector L | --pods L} {--cluster cluster.yaml | --kubeconfig FILE}",
		"Drain nodes in a copy of a cluster, or evict pods, and show where each pod would go, or why it has no node", `.

The exit status is 0 if every pod finds a node, 1 if one does not, and 2 if nothing was tried.`)
	cmd.Flags().StringVar(&r.pods, "pods", "", "labels of pods that are evicted, in place of nodes that are drained: a pod may come back to its node")
	return cmd
}

func newShrink(plugins frameworkruntime.Registry) *cobra.Command {
	r := &removal{do: drain.Shrink, selector: "!node-role.kubernetes.io/control-plane"}
	cmd := r.command(plugins, shrinkName+" {--cluster cluster.yaml | --kubeconfig FILE}",
		"Find nodes that can go, by draining nodes in a copy of a cluster, the emptiest first", `.
No pod may lose its node for it. That is greedy: in another order more might go.

The exit status is 0 if nodes can go, 1 if none can, and 2 if nothing was tried.`)
	cmd.Args = cobra.NoArgs
	cmd.Flags().StringVar(&r.pricesFile, "prices", "", "file with what nodes cost, to show what is saved")
	return cmd
}

func (r *removal) command(plugins frameworkruntime.Registry, use, short, more string) *cobra.Command {
	r.plugins = plugins
	cmd := &cobra.Command{Use: use, Short: short, Long: short + more, RunE: r.run}
	flags := cmd.Flags()
	r.copyFlags.add(flags)
	flags.StringVarP(&r.selector, "selector", "l", r.selector, "labels of the nodes, as for kubectl")
	flags.BoolVar(&r.Force, "force", false, "evict pods without a controller, too, as if one recreated them")
	outputFlag(flags, &r.format, []string{"json", "markdown", "table"}, "table, markdown or json")
	return cmd
}

func (r *removal) run(cmd *cobra.Command, named []string) error {
	tried, err := r.read(cmd, named)
	if err != nil {
		return err
	}
	defer tried.done()
	removed, err := r.do(cmd.Context(), r.Options)
	r.progress.end()
	if err != nil {
		return tried.labelled(err)
	}
	if err := r.write(cmd, removed); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	switch lost := removed.Lost(); {
	case lost > 0:
		return lostError(fmt.Sprintf("%d of %d pods have no other node", lost, len(removed.Moves)))
	case len(removed.Go) == 0 && r.Pods == nil:
		return lostError("no node can go")
	}
	return nil
}

// read reads all there is to read, and looks at it, before anything is tried.
func (r *removal) read(cmd *cobra.Command, named []string) (*whatIf, error) {
	drains := cmd.Name() == drainName
	if ways := []bool{len(named) > 0, r.selector != "", r.pods != ""}; drains && len(slices.DeleteFunc(ways, func(is bool) bool { return !is })) != 1 {
		return nil, errors.New("what is to go? Name nodes, or choose them by --selector, or choose pods by --pods: one of the three")
	}
	if err := r.check(cmd.Name()); err != nil {
		return nil, err
	}
	tried, err := r.whatIf(cmd, r.plugins)
	if err != nil {
		return nil, err
	}
	r.progress = progressOf(cmd)
	r.Options.Options, r.Name, r.Runs, r.Progress = tried.Options, tried.name(), r.runs, r.progress.tells
	choose := r.choose
	if r.pods != "" {
		choose = r.choosePods
	}
	err = cmp.Or(choose(named), r.readPrices())
	if bare := r.Bare(); err == nil && drains && !r.Force && len(bare) > 0 {
		err = fmt.Errorf("no controller recreates these pods: %s; --force looks where they would go if one did", words.Few(bare))
	}
	if err != nil {
		_ = tried.done()
	}
	return tried, err
}

// choosePods has pods evicted by their labels.
func (r *removal) choosePods([]string) (err error) {
	if r.Pods, err = labels.Parse(r.pods); err != nil {
		return fmt.Errorf("--pods %s: %w", r.pods, err)
	}
	for i := range r.Cluster.Pods {
		if pod := &r.Cluster.Pods[i]; pod.Spec.NodeName != "" && r.Pods.Matches(labels.Set(pod.Labels)) {
			return nil
		}
	}
	return fmt.Errorf("--pods %s: no pod that runs has such labels", r.pods)
}

// choose finds the nodes that are named, or else those with the labels.
func (r *removal) choose(named []string) error {
	selector, err := labels.Parse(r.selector)
	if err != nil {
		return fmt.Errorf("--selector %s: %w", r.selector, err)
	}
	for _, node := range r.Cluster.Nodes {
		r.nodes = append(r.nodes, side.Node{Name: node.Name, Labels: node.Labels})
		if slices.Contains(named, node.Name) || len(named) == 0 && selector.Matches(labels.Set(node.Labels)) {
			r.Nodes = append(r.Nodes, node.Name)
		}
	}
	if gone := slices.DeleteFunc(named, func(name string) bool { return slices.Contains(r.Nodes, name) }); len(gone) > 0 {
		return fmt.Errorf("the cluster has no node %s", words.Few(gone))
	} else if len(r.Nodes) == 0 {
		return fmt.Errorf("--selector %s: no node of the cluster has such labels", r.selector)
	}
	return nil
}

func (r *removal) readPrices() (err error) {
	if r.pricesFile == "" {
		return nil
	}
	if r.prices, err = compare.ReadPrices(r.pricesFile); err != nil {
		return err
	}
	return r.prices.Check(r.nodes)
}

// saves is what the nodes that go cost an hour, as far as that is known.
func (r *removal) saves(gone []string) (perHour float64) {
	for i := range r.nodes {
		if r.prices != nil && slices.Contains(gone, r.nodes[i].Name) {
			price, _ := r.prices.Of(&r.nodes[i])
			perHour += price
		}
	}
	return math.Round(100*perHour) / 100
}

func (r *removal) write(cmd *cobra.Command, removed *drain.Result) error {
	out, saves := cmd.OutOrStdout(), r.saves(removed.Go)
	if r.format == "json" {
		to := json.NewEncoder(out)
		to.SetIndent("", "  ")
		return to.Encode(struct {
			*drain.Result
			Saves float64 `json:"savesPerHour,omitempty"`
		}{removed, saves})
	}
	table := map[string]func(io.Writer, [][]string) error{"table": writeTable, "markdown": writeMarkdown}[r.format]
	if cmd.Name() == shrinkName {
		fmt.Fprintf(out, "%d of %d nodes can go. They were found in %d trials, the emptiest first: in another order more might go.\n",
			len(removed.Go), len(r.Nodes), removed.Trials)
		if r.prices != nil {
			fmt.Fprintf(out, "They cost %.2f %s an hour.\n", saves, r.prices.Currency)
		}
		if len(removed.Go) > 0 {
			fmt.Fprintln(out, again(cmd, removed))
		}
	}
	fmt.Fprintf(out, "%s\n\n", moved(removed.Moves))
	err := cmp.Or(table(out, byWorkload(removed.Moves)), writeln(out), table(out, byPod(removed.Moves)))
	if more := len(removed.Moves) - shown; more > 0 {
		fmt.Fprintf(out, "and %d more; -o json has all\n", more)
	}
	stay := map[string][]string{}
	for _, one := range removed.Stay {
		stay[one.Reason] = append(stay[one.Reason], fmt.Sprintf("%s (%s)", one.Node, one.Pod))
	}
	for _, reason := range slices.Sorted(maps.Keys(stay)) {
		fmt.Fprintf(out, "\n%s cannot go: %s\n   %s\n", words.Plural(len(stay[reason]), "node"), reason, words.Few(stay[reason]))
	}
	_, wrong := fmt.Fprintf(out, "\n%s\n", removed.Basis.String())
	return cmp.Or(err, wrong)
}

func writeln(out io.Writer) error {
	_, err := fmt.Fprintln(out)
	return err
}

// moved says in a line what comes of the pods.
func moved(moves []engine.Move) string {
	var back, none int
	for _, move := range moves {
		if move.To == "" {
			none++
		} else if move.To == move.From {
			back++
		}
	}
	text := fmt.Sprintf("%s: %d to another node", words.Plural(len(moves), "pod"), len(moves)-back-none)
	if back > 0 {
		text += fmt.Sprintf(", %d back to the same", back)
	}
	return text + fmt.Sprintf(", %d without a node.", none)
}

// byWorkload are the rows of a table: how many pods of each workload move, first those of
// which some have no node.
func byWorkload(moves []engine.Move) [][]string {
	type sum struct {
		pods, none int
		why        string
	}
	sums := map[string]*sum{}
	for _, move := range moves {
		name := cmp.Or(move.Workload, "Pod "+move.Pod)
		if sums[name] == nil {
			sums[name] = &sum{}
		}
		of := sums[name]
		if of.pods++; move.To == "" {
			of.none++
			of.why = cmp.Or(of.why, move.Reason)
		}
	}
	names := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b].none, sums[a].none), cmp.Compare(a, b))
	})
	rows := [][]string{{"WORKLOAD", "PODS", "NO NODE", "REASON"}}
	for _, name := range names[:min(shown, len(names))] {
		of := sums[name]
		rows = append(rows, []string{name, fmt.Sprint(of.pods), fmt.Sprint(of.none), of.why})
	}
	return rows
}

// byPod are the rows of a table with where each pod goes.
func byPod(moves []engine.Move) [][]string {
	rows := [][]string{{"POD", "FROM", "TO", "REASON"}}
	for _, move := range moves[:min(shown, len(moves))] {
		if move.PreemptedBy != "" {
			move.Reason = strings.TrimSuffix("preempted by "+move.PreemptedBy+"; "+move.Reason, "; ")
		}
		rows = append(rows, []string{move.Pod, move.From, cmp.Or(engine.Place(move.To, move.Feasible), "-"), move.Reason})
	}
	return rows
}

// writeTable writes rows, the first of which is the head, for a console.
func writeTable(out io.Writer, rows [][]string) error {
	aligned := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(aligned, strings.Join(row, "\t"))
	}
	return aligned.Flush()
}

// writeMarkdown writes them for a comment on a pull request.
func writeMarkdown(out io.Writer, rows [][]string) (err error) {
	for i, row := range rows {
		cells := slices.Clone(row)
		for j := range cells {
			cells[j] = strings.ReplaceAll(cells[j], "|", `\|`)
		}
		_, wrong := fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
		if err = cmp.Or(err, wrong); i == 0 {
			fmt.Fprintln(out, strings.Repeat("|---", len(row))+"|")
		}
	}
	return err
}

// shown is how many rows of a table a person reads.
const shown = 40

// again is the command that drains nodes as it was found that they can be.
func again(cmd *cobra.Command, removed *drain.Result) string {
	line := []string{"simulator", drainName}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"selector", "prices", "output", "quiet", "runs", "seed"}, f.Name) {
			line = append(line, "--"+f.Name+"="+strings.Trim(f.Value.String(), "[]"))
		}
	})
	if seed := removed.Basis.Seed; seed != 1 {
		line = append(line, fmt.Sprint("--seed=", seed))
	}
	return strings.Join(append(line, removed.Go...), " ")
}
