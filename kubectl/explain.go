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
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// explanation is the result of explain.
type explanation struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	// Patterns are by annotation.
	Patterns map[string]string `json:"patterns"`
	Problem  string            `json:"problem,omitempty"`
	// Node is where the pod is, or "".
	Node string `json:"node,omitempty"`
	// Matches are the nodes that the pattern matches, of Nodes.
	Matches []string `json:"matches"`
	Nodes   int      `json:"nodes"`
	// Scheduler is the scheduler's message, from the pod's condition or an event.
	Scheduler string `json:"scheduler,omitempty"`
	// Notes warn of keys that are not read, and of patterns that may not mean what their
	// author expects.
	Notes []string `json:"notes,omitempty"`
	// NotRead is what explain could not read, and why.
	NotRead []string `json:"notRead,omitempty"`
	// Verdict is the state of the pod in one sentence, and Help how to change it.
	Verdict string   `json:"verdict"`
	Help    []string `json:"help,omitempty"`

	policy  regex.Policy
	decides string // the annotation to change
	noNodes bool   // so Matches are not known, but for the pod's own node
}

func newExplain(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "explain POD",
		Short:             "Explain why a pod is pending, or why it runs on its node",
		Example:           "  kubectl regex explain web-0 -n shop",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, pod, err := o.pod(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return o.explain(cmd.Context(), client, pod)
		},
	}
	o.addOutput(cmd, "text", "json", "yaml")
	return cmd
}

func (o *options) explain(ctx context.Context, client kubernetes.Interface, pod *v1.Pod) error {
	seen, err := o.look(ctx, client, pod)
	if err != nil {
		return err
	}
	e := explain(o.policy, pod, seen)
	if o.output == "text" {
		e.write(o.Out)
	} else if err := o.print(e); err != nil {
		return err
	}
	if e.Problem != "" {
		return errMistakes
	}
	return nil
}

// explain explains the state of a pod.
func explain(policy regex.Policy, pod *v1.Pod, seen *surroundings) *explanation {
	e := &explanation{
		Namespace: pod.Namespace, Pod: pod.Name, Node: pod.Spec.NodeName, Nodes: len(seen.nodes), Matches: []string{},
		Patterns: patternsOf(policy, pod.Annotations), Scheduler: seen.scheduler, NotRead: seen.notRead, Notes: lint.Keys(policy, pod.Annotations, pod.Labels),
		policy: policy, noNodes: seen.noNodes,
	}
	for _, r := range slices.Backward(rejecting) { // that of the first one that the pod has
		if _, ok := e.Patterns[policy.Key(r)]; ok {
			e.decides = policy.Key(r)
		}
	}
	rules, err := policy.Compile(pod.Annotations)
	var wrong *regex.PatternError
	switch {
	case errors.As(err, &wrong):
		e.Problem, e.decides = err.Error(), wrong.Annotation
	case !rules.Filters():
		e.Verdict = "it has no annotation " + policy.Annotation + ", so any node's name qualifies"
		return e
	default:
		names := namesOf(seen.nodes)
		if e.noNodes && e.Node != "" {
			names = []string{e.Node}
		}
		e.Matches = matching(&rules, names)
		e.Notes = append(e.Notes, dialect.PodNotes(policy, pod.Annotations)...)
	}
	e.judge(pod, seen)
	owner := metav1.GetControllerOf(pod)
	if owner != nil && e.Node == "" {
		kind, name := owner.Kind, owner.Name
		if deployment, ok := strings.CutSuffix(name, "-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]); ok && kind == "ReplicaSet" {
			kind, name = "Deployment", deployment
		}
		e.help("change the pod template of %s %s, too", kind, name)
	}
	return e
}

func (e *explanation) help(format string, args ...any) {
	e.Help = append(e.Help, fmt.Sprintf(format, args...))
}

// annotate is the command that changes a pattern.
func (e *explanation) annotate(key string) string {
	return cli.Shell([]string{"kubectl", "annotate", "pod", e.Pod, "-n", e.Namespace, "--overwrite", key + "=PATTERN"})
}

// some names the first few.
func some(names []string) string { return cmp.Or(report.Few(names), "none") }

// write writes the explanation as text.
func (e *explanation) write(out io.Writer) {
	printable.Fprintf(out, "Pod:      %s/%s\n", e.Namespace, e.Pod)
	for _, r := range rejecting {
		if pattern, ok := e.Patterns[e.policy.Key(r)]; ok {
			printable.Fprintf(out, "%-9s %s\n", strings.ToUpper(word(r)[:1])+word(r)[1:]+":", printable.Short(lint.Shown(pattern)))
		}
	}
	if len(e.Patterns) > 0 && !e.noNodes {
		printable.Fprintf(out, "Matches:  %d of %s: %s\n", len(e.Matches), report.Plural(e.Nodes, "node"), some(e.Matches))
	}
	printable.Fprintf(out, "Verdict:  %s\n", e.Verdict)
	if e.Problem != "" {
		printable.Fprintf(out, "Problem:  %s\n", e.Problem)
	}
	if e.Scheduler != "" {
		printable.Fprintf(out, "Message:  %s\n", e.Scheduler)
	}
	writeList(out, "The annotations may not mean what you expect:", e.Notes)
	writeList(out, "Not checked:", e.NotRead)
	writeList(out, "To fix it:", e.Help)
}

func writeList(out io.Writer, head string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintln(out, head)
	}
	for _, line := range lines {
		printable.Fprintf(out, "  - %v\n", line)
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
