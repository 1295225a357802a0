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

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// patterns are a pod's patterns. A missing one is nil.
type patterns struct {
	Pattern *string `json:"pattern,omitempty"`
	Exclude *string `json:"exclude,omitempty"`
}

func patternsOf(policy regex.Policy, annotations map[string]string) (p patterns) {
	if pattern, ok := annotations[policy.Annotation]; ok {
		p.Pattern = &pattern
	}
	if pattern, ok := annotations[policy.ExcludeAnnotation]; ok {
		p.Exclude = &pattern
	}
	return p
}

// String is two columns of a table.
func (p patterns) String() string {
	both := []string{"-", "-"}
	for i, pattern := range []*string{p.Pattern, p.Exclude} {
		if pattern != nil {
			both[i] = shown(*pattern)
		}
	}
	return strings.Join(both, "\t")
}

// inUse are patterns that pods have.
type inUse struct {
	patterns
	// Nodes is how many nodes they match.
	Nodes int `json:"nodes"`
	// Pods is how many pods have them, and Pending how many of these have no node.
	Pods    int `json:"pods"`
	Pending int `json:"pending"`
	// Problem is why the scheduler refuses them, or that they match no node.
	Problem string `json:"problem,omitempty"`
}

func newPatterns(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "nodes",
		Short:             "List the patterns of the pods, with the number of nodes and pods of each",
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
		return o.print(all)
	}
	if len(all) == 0 {
		where := cmp.Or(namespace, "any namespace")
		fmt.Fprintf(o.ErrOut, "No pod in %s has the annotation %s or %s.\n", where, o.policy.Annotation, o.policy.ExcludeAnnotation)
		return nil
	}
	w := printers.GetNewTabWriter(o.Out)
	fmt.Fprintln(w, "PATTERN\tEXCLUDES\tNODES\tPODS\tPENDING\tPROBLEM")
	for _, p := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", p, p.Nodes, p.Pods, p.Pending, p.Problem)
	}
	return w.Flush()
}

// usage counts the pods of each pattern. Those with most pods come first. Pods that have
// ended do not count.
func usage(policy regex.Policy, pods []*v1.Pod, nodes []string) []*inUse {
	found := map[string]*inUse{}
	for _, pod := range pods {
		carries := patternsOf(policy, pod.Annotations)
		phase := pod.Status.Phase
		if carries == (patterns{}) || phase == v1.PodSucceeded || phase == v1.PodFailed {
			continue
		}
		name := carries.String()
		if found[name] == nil {
			found[name] = &inUse{patterns: carries}
			found[name].measure(policy, pod, nodes)
		}
		found[name].Pods++
		if pod.Spec.NodeName == "" {
			found[name].Pending++
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *inUse) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.String(), b.String()))
	})
}

// measure counts the nodes that a pod's patterns match.
func (use *inUse) measure(policy regex.Policy, pod *v1.Pod, nodes []string) {
	selector, err := policy.Selector(pod.Annotations)
	var wrong *regex.PatternError
	switch {
	case errors.As(err, &wrong):
		use.Problem = wrong.Problem
		if wrong.Annotation == policy.ExcludeAnnotation {
			use.Problem = "exclude annotation: " + wrong.Problem
		}
	case err == nil:
		use.Nodes = len(matching(selector, nodes))
		if use.Nodes == 0 {
			use.Problem = "matches no node"
		}
	}
}
