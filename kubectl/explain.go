package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// explanation is what explain answers.
type explanation struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	// Annotation is the key that is read, ExcludeAnnotation that of nodes to exclude.
	Annotation        string `json:"annotation"`
	ExcludeAnnotation string `json:"excludeAnnotation"`
	patterns
	Problem string `json:"problem,omitempty"`
	// Node is where the pod is, or "".
	Node string `json:"node,omitempty"`
	// Matches are the nodes that the pattern matches, of Nodes.
	Matches []string `json:"matches"`
	Nodes   int      `json:"nodes"`
	// Obstacles are why nodes that match are no place for the pod, as far as
	// the pod and the node show it.
	Obstacles []obstacle `json:"obstacles,omitempty"`
	// Scheduler is what the scheduler says, in the pod's condition or an event.
	Scheduler string `json:"scheduler,omitempty"`
	// Verdict says in one sentence where the pod stands, Help what would help.
	Verdict string   `json:"verdict"`
	Help    []string `json:"help,omitempty"`

	decides string // the annotation that is refused, or else the one that decides
}

func newExplain(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "explain POD",
		Short:             "Say why a pod waits or runs where it does: its pattern, its nodes, and what else stands in the way",
		Example:           "  kubectl regex explain web-0 -n shop",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.explain(cmd.Context(), strings.TrimPrefix(args[0], "pod/"))
		},
	}
	o.addOutput(cmd, "text", "json", "yaml")
	return cmd
}

func (o *options) explain(ctx context.Context, name string) error {
	namespace, err := o.namespace()
	if err != nil {
		return err
	}
	client, err := o.client()
	if err != nil {
		return err
	}
	pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	nodes, err := o.nodes(ctx, "")
	if err != nil {
		return err
	}
	slices.SortFunc(nodes, func(a, b *v1.Node) int { return cmp.Compare(a.Name, b.Name) })
	e := explain(o.policy, pod, nodes)
	if e.Scheduler, err = schedulerSays(ctx, client, pod); err != nil {
		return err
	}
	if o.output != "text" {
		return o.print(e)
	}
	e.write(o.Out)
	return nil
}

// schedulerSays is the last message of a scheduler about a pod that waits: in its
// condition, which outlives events, or else in an event.
func schedulerSays(ctx context.Context, client kubernetes.Interface, pod *v1.Pod) (string, error) {
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse {
			return c.Message, nil
		}
	}
	if pod.Spec.NodeName != "" {
		return "", nil
	}
	events, err := client.CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "reason=FailedScheduling,involvedObject.uid=" + string(pod.UID),
	})
	if err != nil || len(events.Items) == 0 {
		return "", err
	}
	last := slices.MaxFunc(events.Items, func(a, b v1.Event) int {
		return cmp.Or(a.LastTimestamp.Compare(b.LastTimestamp.Time), a.EventTime.Compare(b.EventTime.Time))
	})
	return last.Message, nil
}

// explain looks at a pod and at all nodes, in order.
func explain(policy regex.Policy, pod *v1.Pod, nodes []*v1.Node) *explanation {
	e := &explanation{
		Namespace: pod.Namespace, Pod: pod.Name, Node: pod.Spec.NodeName, Nodes: len(nodes), Matches: []string{},
		Annotation: policy.Annotation, ExcludeAnnotation: policy.ExcludeAnnotation, patterns: patternsOf(policy, pod.Annotations),
	}
	e.decides = e.Annotation
	if e.Pattern == nil {
		e.decides = e.ExcludeAnnotation
	}
	selector, err := policy.Selector(pod.Annotations)
	if selector == nil && err == nil {
		e.Verdict = "it has no annotation " + policy.Annotation + ", so every node's name is good"
		return e
	}
	var wrong *regex.PatternError
	if errors.As(err, &wrong) {
		e.Problem, e.decides = err.Error(), wrong.Annotation
	} else {
		e.Matches = matching(selector, namesOf(nodes))
	}
	e.judge(pod, nodes, selector)
	if owner := metav1.GetControllerOf(pod); owner != nil && e.Node == "" {
		e.help("what holds for this pod holds for the template in %s %s: change it there, too", owner.Kind, owner.Name)
	}
	return e
}

// judge finds the verdict and what would help.
func (e *explanation) judge(pod *v1.Pod, nodes []*v1.Node, selector *regex.Selector) {
	switch {
	case e.Problem != "" && e.Node == "":
		e.Verdict = "it waits: the scheduler refuses the pattern"
		e.help("mend the pattern: %s; the pod is tried again at once", e.annotate())
	case e.Problem != "":
		e.Verdict = "it is on " + e.Node + ", though the pattern is refused now: it was another one, or the pod's scheduler does not read the annotation"
	case e.Node != "" && selector.Match(e.Node):
		e.Verdict = "it is on " + e.Node + ", whose name matches"
	case e.Node != "":
		e.Verdict = "it is on " + e.Node + ", whose name does not match: the annotation came later, or the scheduler " + pod.Spec.SchedulerName + " does not read it"
		e.help("delete the pod, so that it is scheduled anew")
	case len(pod.Spec.SchedulingGates) > 0:
		e.Verdict = "it waits for its scheduling gate " + pod.Spec.SchedulingGates[0].Name + " to be removed; no scheduler looks at it before"
	case len(e.Matches) == 0:
		e.Verdict = "it waits: no node's name matches"
		e.helpMatch(nodes)
	default:
		e.Obstacles = obstacles(pod, nodes, e.Matches)
		e.judgeMatches()
	}
}

// judgeMatches is judge for a pod that waits though nodes match.
func (e *explanation) judgeMatches() {
	blocked := map[string]bool{}
	for _, o := range e.Obstacles {
		blocked[o.Node] = true
		e.help("%s: %s", o.Node, o.Help)
	}
	if len(blocked) == len(e.Matches) {
		e.Verdict = "it waits: nodes match, and something else stands in the way at each of them"
		return
	}
	e.Verdict = "it waits, though nodes match; what the scheduler says has the reason"
	e.help("free resources on a node that matches, or let the pattern match more nodes: %s", e.annotate())
}

// helpMatch looks for what a pattern that matches nothing may have been meant to be.
func (e *explanation) helpMatch(nodes []*v1.Node) {
	if e.Pattern == nil {
		e.help("its annotation of nodes to exclude matches every name: %s", e.annotate())
		return
	}
	pattern := *e.Pattern
	if folded, err := regex.Default.Compile("(?i)" + pattern); err == nil {
		if names := matching(folded, namesOf(nodes)); len(names) > 0 {
			e.help("names of nodes are in lower case: without regard to case it would match %s", some(names))
		}
	}
	for _, note := range dialect.Python(pattern) {
		e.help("%s", note)
	}
	e.help("change the pattern (%s) or add a node that it matches; there are %s", e.annotate(), some(namesOf(nodes)))
}

func (e *explanation) help(format string, args ...any) {
	e.Help = append(e.Help, fmt.Sprintf(format, args...))
}

// annotate is the command that changes the pattern.
func (e *explanation) annotate() string {
	return fmt.Sprintf("kubectl annotate pod %s -n %s --overwrite %s=PATTERN", e.Pod, e.Namespace, e.decides)
}

// some names the first few.
func some(names []string) string {
	const few = 5
	switch {
	case len(names) == 0:
		return "none"
	case len(names) <= few:
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// write is the explanation for people.
func (e *explanation) write(out io.Writer) {
	fmt.Fprintf(out, "Pod:      %s/%s\n", e.Namespace, e.Pod)
	if e.Pattern != nil {
		fmt.Fprintf(out, "Pattern:  %s\n", shown(*e.Pattern))
	}
	if e.Exclude != nil {
		fmt.Fprintf(out, "Excludes: %s\n", shown(*e.Exclude))
	}
	if e.patterns != (patterns{}) {
		fmt.Fprintf(out, "Matches:  %d of %s: %s\n", len(e.Matches), count(e.Nodes, "node", "nodes"), some(e.Matches))
	}
	fmt.Fprintf(out, "Verdict:  %s\n", e.Verdict)
	if e.Problem != "" {
		fmt.Fprintf(out, "Problem:  %s\n", e.Problem)
	}
	if e.Scheduler != "" {
		fmt.Fprintf(out, "It says:  %s\n", e.Scheduler)
	}
	writeList(out, "Nodes that match, and refuse:", e.Obstacles)
	writeList(out, "What would help:", e.Help)
}

// writeList writes the first lines of a list, if it has any.
func writeList[T any](out io.Writer, head string, lines []T) {
	const few = 20
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(out, head)
	for _, line := range lines[:min(few, len(lines))] {
		fmt.Fprintf(out, "  - %v\n", line)
	}
	if len(lines) > few {
		fmt.Fprintf(out, "  and %d more; -o yaml has all\n", len(lines)-few)
	}
}

// completePods offers the names of the namespace's pods.
func (o *options) completePods(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	namespace, err := o.namespace()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	pods, err := o.pods(cmd.Context(), namespace)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
