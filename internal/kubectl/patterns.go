package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// inUse is a pattern that pods carry.
type inUse struct {
	Pattern string `json:"pattern"`
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
		pattern, ok := pod.Annotations[policy.Annotation]
		if !ok || ended(pod) {
			continue
		}
		if found[pattern] == nil {
			found[pattern] = measure(policy, pattern, nodes)
		}
		found[pattern].Pods++
		if pod.Spec.NodeName == "" {
			found[pattern].Waiting++
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *inUse) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.Pattern, b.Pattern))
	})
}

// measure finds the nodes of a pattern.
func measure(policy regex.Policy, pattern string, nodes []string) *inUse {
	use := &inUse{Pattern: pattern}
	selector, err := policy.Compile(pattern)
	if err == nil {
		use.Nodes = len(matching(selector, nodes))
	}
	var wrong *regex.PatternError
	switch {
	case errors.As(err, &wrong):
		use.Problem = wrong.Problem
	case use.Nodes == 0:
		use.Problem = "matches no node"
	}
	return use
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
		fmt.Fprintf(o.ErrOut, "No pod in %s has the annotation %s.\n", where, o.policy.Annotation)
		return nil
	}
	rows := make([]string, len(patterns))
	for i, p := range patterns {
		rows[i] = fmt.Sprintf("%s\t%d\t%d\t%d\t%s", shown(p.Pattern), p.Nodes, p.Pods, p.Waiting, p.Problem)
	}
	return o.table("PATTERN\tNODES\tPODS\tWAITING\tPROBLEM", rows...)
}
