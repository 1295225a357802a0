package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// rejecting are the roles whose patterns reject nodes.
var rejecting = []regex.Role{regex.Require, regex.Exclude}

// word names the pattern of a role, in a table or as a flag.
func word(r regex.Role) string {
	if r == regex.Require {
		return "pattern"
	}
	return strings.TrimSuffix(r.Field(), "Annotation")
}

// patternsOf are the annotations with the patterns that reject nodes.
func patternsOf(policy regex.Policy, annotations map[string]string) map[string]string {
	patterns := map[string]string{}
	for _, r := range rejecting {
		if pattern, ok := annotations[policy.Key(r)]; ok {
			patterns[policy.Key(r)] = pattern
		}
	}
	return patterns
}

// inUse are patterns that pods have.
type inUse struct {
	// Patterns are by annotation.
	Patterns map[string]string `json:"patterns"`
	// Nodes is how many nodes they match.
	Nodes int `json:"nodes"`
	// Pods is how many pods have them, and Pending how many of these have no node.
	Pods    int `json:"pods"`
	Pending int `json:"pending"`
	// Problem is why the scheduler refuses them, or that they match no node.
	Problem string `json:"problem,omitempty"`

	invalid bool // so the scheduler refuses them
}

func newPatterns(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "nodes",
		Short:             "List patterns with how many nodes and pods they have",
		Example:           "  kubectl regex nodes -A",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.patterns(cmd.Context())
		},
	}
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the patterns of pods in all namespaces")
	o.addOutput(cmd, "table", "json", "yaml")
	return cmd
}

func (o *options) patterns(ctx context.Context) error {
	namespace, err := o.namespace()
	if err != nil {
		return err
	}
	nodes, err := o.nodes(ctx, "")
	if err != nil {
		return err
	}
	pods, err := o.pods(ctx, namespace)
	if err != nil {
		return err
	}
	all := usage(o.policy, pods, namesOf(nodes))
	if o.output != "table" {
		err = o.print(all)
	} else {
		err = o.printPatterns(namespace, all)
	}
	if err == nil && slices.ContainsFunc(all, func(use *inUse) bool { return use.invalid }) {
		return errMistakes
	}
	return err
}

// printPatterns prints the table.
func (o *options) printPatterns(namespace string, all []*inUse) error {
	if len(all) == 0 {
		where := cmp.Or(namespace, "any namespace")
		fmt.Fprintf(o.ErrOut, "No pod in %s has the annotation %s or %s.\n", where, o.policy.Annotation, o.policy.ExcludeAnnotation)
		return nil
	}
	w := printers.GetNewTabWriter(o.Out)
	for _, r := range rejecting {
		fmt.Fprint(w, strings.ToUpper(word(r)), "\t")
	}
	fmt.Fprintln(w, "NODES\tPODS\tPENDING\tPROBLEM")
	for _, use := range all {
		for _, r := range rejecting {
			cell := "-"
			if pattern, ok := use.Patterns[o.policy.Key(r)]; ok {
				cell = printable.Short(lint.Shown(pattern))
			}
			fmt.Fprint(w, cell, "\t")
		}
		printable.Fprintf(w, "%d\t%d\t%d\t%s\n", use.Nodes, use.Pods, use.Pending, use.Problem)
	}
	return w.Flush()
}

// usage counts the pods of each pattern. Those with most pods come first. Pods that have
// ended do not count.
func usage(policy regex.Policy, pods []*v1.Pod, nodes []string) []*inUse {
	found := map[string]*inUse{}
	for _, pod := range pods {
		use := &inUse{Patterns: patternsOf(policy, pod.Annotations)}
		phase := pod.Status.Phase
		if len(use.Patterns) == 0 || phase == v1.PodSucceeded || phase == v1.PodFailed {
			continue
		}
		name := fmt.Sprint(use.Patterns)
		if found[name] == nil {
			found[name] = use
			use.measure(policy, nodes)
		}
		found[name].Pods++
		if pod.Spec.NodeName == "" {
			found[name].Pending++
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *inUse) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(fmt.Sprint(a.Patterns), fmt.Sprint(b.Patterns)))
	})
}

// measure counts the nodes that the patterns match.
func (use *inUse) measure(policy regex.Policy, nodes []string) {
	rules, err := policy.Compile(use.Patterns)
	var wrong *regex.PatternError
	switch {
	case errors.As(err, &wrong):
		use.invalid = true
		use.Problem = wrong.Problem
		if wrong.Annotation != policy.Annotation {
			use.Problem = "annotation " + wrong.Annotation + ": " + wrong.Problem
		}
	case err == nil:
		use.Nodes = len(matching(&rules, nodes))
		if use.Nodes == 0 {
			use.Problem = "matches no node"
		}
	}
}
