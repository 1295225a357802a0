package guestcommand

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

func newRun() *cobra.Command {
	var q question
	var expected []string
	cmd := &cobra.Command{
		Use:   "run FILE|URL --nodes NAMES|FILE [--pod FILE] [--annotation KEY=VALUE]",
		Short: "Ask a guest where a pod may run",
		Long: "Ask a guest where a pod may run, as the scheduler would: its verdict, reason and score for each node, " +
			"what it answers to Reserve and Permit about the node with the highest score, " +
			"the events that it sends, and what it logs.\n\n" +
			"The exit status is 1 if no node is left or the chosen one is rejected, or, with --expect, if others are left than those.",
		Example: "  guest run my.wasm --annotation example.com/disk=nvme --nodes a,b\n" +
			"  guest run my.wasm --pod pod.yaml --nodes nodes.yaml --expect a",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := q.read(given[0]); err != nil {
				return err
			}
			left, rejected, err := ask(cmd.Context(), cmd.OutOrStdout(), q)
			switch {
			case err != nil:
				return err
			case cmd.Flags().Changed("expect"):
				return compare(cmd.ErrOrStderr(), left, expected)
			case len(left) == 0 || rejected:
				return errNotAsWanted
			}
			return nil
		},
	}
	q.flags(cmd)
	cmd.Flags().StringSliceVar(&expected, "expect", nil, "names of the nodes that must be left, and no others")
	return cmd
}

// ask walks the pod through a scheduling cycle, and prints what the guest says. It returns the names
// of the nodes that are left, and whether the guest rejects the pod for the best of them.
func ask(ctx context.Context, out io.Writer, q question) (left []string, rejected bool, err error) {
	host := wasmhost.New(fetch.Fetcher{}.Options())
	defer func() { err = errors.Join(err, host.Close()) }()
	started, err := host.Start(ctx, pluginName, q.args)
	if err != nil {
		return nil, false, err
	}
	scheduler, plugin, err := schedulerOf(ctx, started, q, printEvents{out})
	if err != nil {
		return nil, false, err
	}
	state := framework.NewCycleState()
	named, status, _ := scheduler.RunPreFilterPlugins(ctx, state, q.pod)
	if !status.IsSuccess() {
		printable.Fprintf(out, "PreFilter: %s\n", inWords(status))
		return nil, false, nil
	}
	var passed []fwk.NodeInfo
	verdicts := map[string]string{}
	for _, node := range q.nodes {
		info, err := scheduler.SnapshotSharedLister().NodeInfos().Get(node.Name)
		if err != nil {
			return nil, false, err
		}
		verdict := scheduler.RunFilterPlugins(ctx, state, q.pod, info)
		if verdict.IsSuccess() && !named.AllNodes() && !named.NodeNames.Has(node.Name) {
			verdict = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "PreFilter does not name it")
		}
		verdicts[node.Name] = inWords(verdict)
		if verdict.IsSuccess() {
			passed = append(passed, info)
			left = append(left, node.Name)
		}
	}
	scores, err := score(ctx, scheduler, state, q.pod, passed)
	err = errors.Join(err, printNodes(out, q.nodes, scores, verdicts))
	if err != nil || len(left) == 0 {
		return left, false, err
	}
	best := slices.MaxFunc(left, func(one, other string) int { return cmp.Compare(scores[one], scores[other]) })
	return left, askAboutBest(ctx, out, started.Describe().Exports, plugin, q.pod, state, best), nil
}

func printNodes(out io.Writer, nodes []*v1.Node, scores map[string]int64, verdicts map[string]string) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NODE\tSCORE\tVERDICT")
	for _, node := range nodes {
		shown := ""
		score, ok := scores[node.Name]
		if ok {
			shown = fmt.Sprint(score)
		}
		printable.Fprintf(table, "%s\t%s\t%s\n", node.Name, shown, verdicts[node.Name])
	}
	return table.Flush()
}

// askAboutBest asks Reserve and Permit about the best node, as the scheduler does at the end of a
// scheduling cycle. Unreserve is called only where one of them rejects the pod.
func askAboutBest(ctx context.Context, out io.Writer, exports []string, plugin fwk.Plugin, pod *v1.Pod, state fwk.CycleState, node string) (rejected bool) {
	pod = pod.DeepCopy()
	pod.Spec.NodeName = node // as the scheduler assumes
	var status *fwk.Status
	if slices.Contains(exports, "reserve") {
		status = plugin.(fwk.ReservePlugin).Reserve(ctx, state, pod, node)
		printable.Fprintf(out, "Reserve on %s: %s\n", node, inWords(status))
	}
	if status.IsSuccess() && slices.Contains(exports, "permit") {
		var wait time.Duration
		status, wait = plugin.(fwk.PermitPlugin).Permit(ctx, state, pod, node)
		atMost := ""
		if status.IsWait() {
			atMost = fmt.Sprintf(", for %s at most", wait)
		}
		printable.Fprintf(out, "Permit on %s: %s%s\n", node, inWords(status), atMost)
	}
	rejected = !status.IsSuccess() && !status.IsWait()
	if rejected && slices.Contains(exports, "unreserve") {
		plugin.(fwk.ReservePlugin).Unreserve(ctx, state, pod, node)
	}
	return rejected
}

// score returns what each of the nodes scores, nothing where the guest scores none.
func score(ctx context.Context, scheduler framework.Framework, state fwk.CycleState, pod *v1.Pod, passed []fwk.NodeInfo) (map[string]int64, error) {
	if !scheduler.HasScorePlugins() || len(passed) == 0 {
		return nil, nil
	}
	status := scheduler.RunPreScorePlugins(ctx, state, pod, passed)
	if !status.IsSuccess() {
		return nil, fmt.Errorf("PreScore: %s", inWords(status))
	}
	all, status := scheduler.RunScorePlugins(ctx, state, pod, passed)
	if !status.IsSuccess() {
		return nil, fmt.Errorf("score: %s", inWords(status))
	}
	scores := map[string]int64{}
	for _, node := range all {
		scores[node.Name] = node.TotalScore
	}
	return scores, nil
}

func inWords(status *fwk.Status) string {
	return strings.TrimSuffix(status.Code().String()+": "+status.Message(), ": ")
}

func compare(errOut io.Writer, left, expected []string) error {
	slices.Sort(expected)
	slices.Sort(left)
	if slices.Equal(left, expected) {
		return nil
	}
	fmt.Fprintf(errOut, "guest: left are %q, but should be %q\n", left, expected)
	return errNotAsWanted
}

// printEvents prints what a guest sends to the pod's events.
type printEvents struct{ out io.Writer }

func (p printEvents) Eventf(_, _ runtime.Object, kind, reason, action, note string, args ...any) {
	printable.Fprintf(p.out, "event: %s %s %s: %s\n", kind, reason, action, fmt.Sprintf(note, args...))
}

func (p printEvents) WithLogger(klog.Logger) events.EventRecorderLogger { return p }
