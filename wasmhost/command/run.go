package command

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
			a, err := ask(cmd.Context(), cmd.OutOrStdout(), q)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("expect") {
				return compare(cmd.ErrOrStderr(), a.left, expected)
			}
			if len(a.left) == 0 || a.chosenRejected {
				return errNotAsWanted
			}
			return nil
		},
	}
	q.flags(cmd)
	cmd.Flags().StringSliceVar(&expected, "expect", nil, "names of the nodes that must be left, and no others")
	return cmd
}

// ask asks the guest, and prints and returns what it says.
func ask(ctx context.Context, out io.Writer, q question) (a answer, err error) {
	host := wasmhost.New(wasmhost.Options{})
	defer func() { err = errors.Join(err, host.Close()) }()
	wasm, err := host.Fetch(ctx, q.args)
	if err != nil {
		return a, err
	}
	started, err := host.Start(ctx, pluginName, q.args)
	if err != nil {
		return a, err
	}
	if q.exports, _, err = functions(ctx, wasm); err != nil {
		return a, err
	}
	a, err = answerOf(ctx, started, q, printEvents{out})
	if err := errors.Join(err, a.print(out, q.nodes)); err != nil {
		return a, err
	}
	return a, nil
}

// answer is what a guest says of a pod and its nodes, in their order.
type answer struct {
	rejected         string // by PreFilter; then there is nothing else
	verdicts, scores []string
	left             []string // names of nodes

	chosen         []string // a line for each hook that was called about the chosen node
	chosenRejected bool
}

// answerOf walks the pod through a scheduling cycle.
func answerOf(ctx context.Context, started *wasmhost.Started, q question, recorder events.EventRecorderLogger) (a answer, err error) {
	scheduler, plugin, err := schedulerOf(ctx, started, q, recorder)
	if err != nil {
		return a, err
	}
	state := framework.NewCycleState()
	named, status, _ := scheduler.RunPreFilterPlugins(ctx, state, q.pod)
	if !status.IsSuccess() {
		a.rejected = inWords(status)
		return a, nil
	}
	var passed []fwk.NodeInfo
	for _, node := range q.nodes {
		info, err := scheduler.SnapshotSharedLister().NodeInfos().Get(node.Name)
		if err != nil {
			return a, err
		}
		verdict := scheduler.RunFilterPlugins(ctx, state, q.pod, info)
		if verdict.IsSuccess() && !named.AllNodes() && !named.NodeNames.Has(node.Name) {
			verdict = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "PreFilter does not name it")
		}
		a.verdicts = append(a.verdicts, inWords(verdict))
		if verdict.IsSuccess() {
			passed = append(passed, info)
			a.left = append(a.left, node.Name)
		}
	}
	scores, err := score(ctx, scheduler, state, q.pod, passed)
	for _, node := range q.nodes {
		score, ok := scores[node.Name]
		if ok {
			a.scores = append(a.scores, fmt.Sprint(score))
		} else {
			a.scores = append(a.scores, "")
		}
	}
	if err == nil && len(a.left) > 0 {
		best := slices.MaxFunc(a.left, func(one, other string) int { return cmp.Compare(scores[one], scores[other]) })
		a.askAboutChosen(ctx, plugin, q, state, best)
	}
	return a, err
}

// askAboutChosen asks Reserve and Permit about the chosen node, as the scheduler does at the end of
// a scheduling cycle. Unreserve is called only where one of them rejects the pod.
func (a *answer) askAboutChosen(ctx context.Context, plugin fwk.Plugin, q question, state fwk.CycleState, node string) {
	pod := q.pod.DeepCopy()
	pod.Spec.NodeName = node // as the scheduler assumes
	reserve, _ := plugin.(fwk.ReservePlugin)
	permit, _ := plugin.(fwk.PermitPlugin)
	var status *fwk.Status
	if slices.Contains(q.exports, "reserve") {
		status = reserve.Reserve(ctx, state, pod, node)
		a.chosen = append(a.chosen, fmt.Sprintf("Reserve on %s: %s", node, inWords(status)))
	}
	if status.IsSuccess() && slices.Contains(q.exports, "permit") {
		var wait time.Duration
		status, wait = permit.Permit(ctx, state, pod, node)
		line := fmt.Sprintf("Permit on %s: %s", node, inWords(status))
		if status.IsWait() {
			line += fmt.Sprintf(", for %s at most", wait)
		}
		a.chosen = append(a.chosen, line)
	}
	a.chosenRejected = !status.IsSuccess() && !status.IsWait()
	if a.chosenRejected && slices.Contains(q.exports, "unreserve") {
		reserve.Unreserve(ctx, state, pod, node)
	}
}

func (a answer) print(out io.Writer, nodes []*v1.Node) error {
	if a.rejected != "" {
		fmt.Fprintf(out, "PreFilter: %s\n", a.rejected)
	}
	if len(a.verdicts) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NODE\tSCORE\tVERDICT")
	for i, verdict := range a.verdicts {
		fmt.Fprintf(table, "%s\t%s\t%s\n", nodes[i].Name, a.scores[i], verdict)
	}
	err := table.Flush()
	for _, line := range a.chosen {
		fmt.Fprintln(out, line)
	}
	return err
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
	fmt.Fprintf(p.out, "event: %s %s %s: %s\n", kind, reason, action, fmt.Sprintf(note, args...))
}

func (p printEvents) WithLogger(klog.Logger) events.EventRecorderLogger { return p }
