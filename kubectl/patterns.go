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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// inUse is a pattern that pods carry, or two that they carry together.
type inUse struct {
	Pattern *string `json:"pattern,omitempty"`
	Exclude *string `json:"exclude,omitempty"`
	// Nodes is how many it matches.
	Nodes int `json:"nodes"`
	// Pods carry it, and of these some wait for a node.
	Pods    int `json:"pods"`
	Waiting int `json:"waiting"`
	// Problem is why the scheduler refuses it, or why no pod can be helped.
	Problem string `json:"problem,omitempty"`
}

func newPatterns(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "nodes",
		Short:             "List the patterns that pods carry, with how many nodes and pods each has",
		Example:           "  kubectl regex nodes -A",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.patterns(cmd.Context())
		},
	}
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Pods of all namespaces")
	o.addOutput(cmd, "table", "json", "yaml")
	return cmd
}

func (o *options) patterns(ctx context.Context) error {
	namespace, err := o.namespace()
	if err != nil {
		return err
	}
	if o.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	client, err := o.client()
	if err != nil {
		return err
	}
	nodes, err := listNodes(ctx, client, "")
	if err != nil {
		return err
	}
	pods, err := listPods(ctx, client, namespace)
	if err != nil {
		return err
	}
	return o.printPatterns(usage(o.policy, pods, namesOf(nodes)), namespace)
}

// usage counts the pods of each pattern, those with most pods first. Pods that have
// ended need no node.
func usage(policy regex.Policy, pods []*v1.Pod, nodes []string) []*inUse {
	found := map[string]*inUse{}
	for _, pod := range pods {
		use := usedBy(policy, pod)
		if use.Pattern == nil && use.Exclude == nil || ended(pod) {
			continue
		}
		name := use.String()
		if found[name] == nil {
			use.measure(policy, pod, nodes)
			found[name] = use
		}
		found[name].Pods++
		if pod.Spec.NodeName == "" {
			found[name].Waiting++
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *inUse) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.String(), b.String()))
	})
}

// usedBy are the patterns of a pod.
func usedBy(policy regex.Policy, pod *v1.Pod) *inUse {
	use := &inUse{}
	if pattern, ok := pod.Annotations[policy.Annotation]; ok {
		use.Pattern = &pattern
	}
	if pattern, ok := pod.Annotations[policy.ExcludeAnnotation]; ok {
		use.Exclude = &pattern
	}
	return use
}

// String is what a table shows of the patterns.
func (use *inUse) String() string {
	both := []string{"-", "-"}
	for i, pattern := range []*string{use.Pattern, use.Exclude} {
		if pattern != nil {
			both[i] = shown(*pattern)
		}
	}
	return strings.Join(both, "\t")
}

// measure finds the nodes of a pod's patterns.
func (use *inUse) measure(policy regex.Policy, pod *v1.Pod, nodes []string) {
	selector, err := policy.Selector(pod.Annotations)
	if err == nil {
		use.Nodes = len(matching(selector, nodes))
	}
	var wrong *regex.PatternError
	switch {
	case errors.As(err, &wrong):
		use.Problem = wrong.Problem
		if wrong.Annotation == policy.ExcludeAnnotation {
			use.Problem = "what to exclude: " + wrong.Problem
		}
	case use.Nodes == 0:
		use.Problem = "matches no node"
	}
}

func ended(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func (o *options) printPatterns(patterns []*inUse, namespace string) error {
	if o.output != "table" {
		return o.print(patterns)
	}
	if len(patterns) == 0 {
		where := cmp.Or(namespace, "any namespace")
		fmt.Fprintf(o.ErrOut, "No pod in %s has the annotation %s or %s.\n", where, o.policy.Annotation, o.policy.ExcludeAnnotation)
		return nil
	}
	rows := make([]string, len(patterns))
	for i, p := range patterns {
		rows[i] = fmt.Sprintf("%s\t%d\t%d\t%d\t%s", p, p.Nodes, p.Pods, p.Waiting, p.Problem)
	}
	return o.table("PATTERN\tEXCLUDES\tNODES\tPODS\tWAITING\tPROBLEM", rows...)
}
