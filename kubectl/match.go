package kubectl

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// matched is the result of match.
type matched struct {
	// Patterns are by annotation.
	Patterns map[string]string `json:"patterns"`
	Matches  []string          `json:"matches"`
	// Nodes is how many nodes there are.
	Nodes int `json:"nodes"`
	// Notes warn of patterns that may not mean what their author expects.
	Notes []string `json:"notes,omitempty"`
}

func newMatch(o *options) *cobra.Command {
	var file, selector string
	cmd := &cobra.Command{
		Use:   "match PATTERN",
		Short: "List the nodes whose names a pattern matches",
		Example: "  kubectl regex match 'kubecon-.*'\n" +
			"  kubectl get nodes -o name | kubectl regex match --nodes - '^gpu-'",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			result := matched{Patterns: map[string]string{o.policy.Annotation: args[0]}}
			for _, r := range rejecting {
				flag := cmd.Flag(word(r))
				if flag != nil && flag.Changed {
					result.Patterns[o.policy.Key(r)] = flag.Value.String()
				}
			}
			for _, pattern := range result.Patterns {
				result.Notes = append(result.Notes, dialect.Notes(pattern)...)
			}
			rules, err := o.policy.Compile(result.Patterns) // before the cluster's nodes are read
			if err != nil {
				return err
			}
			names, err := o.nodeNames(cmd.Context(), file, selector)
			if err != nil {
				return err
			}
			result.Matches, result.Nodes = matching(&rules, names), len(names)
			return o.printMatched(result)
		},
	}
	cmd.Flags().StringVar(&file, "nodes", "", "Read the names of the nodes from this file, not from the cluster: one name in a line, - for standard input")
	for _, r := range rejecting {
		if r != regex.Require {
			cmd.Flags().String(word(r), "", "A pattern of "+r.Nodes()+", as in an annotation")
		}
	}
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "Only nodes with these labels, such as disk=ssd")
	cmd.MarkFlagsMutuallyExclusive("nodes", "selector")
	o.addOutput(cmd, "table", "json", "yaml")
	return cmd
}

func (o *options) printMatched(result matched) error {
	if o.output != "table" {
		return o.print(result)
	}
	for _, name := range result.Matches {
		printable.Fprintf(o.Out, "%s\n", name)
	}
	for _, note := range result.Notes {
		printable.Fprintf(o.ErrOut, "note: %s\n", note)
	}
	fmt.Fprintf(o.ErrOut, "%d of %s\n", len(result.Matches), nodesMatch(result.Nodes))
	return nil
}

// nodesMatch is the beginning of a sentence.
func nodesMatch(n int) string {
	if n == 1 {
		return "1 node matches"
	}
	return fmt.Sprint(n, " nodes match")
}

// matching returns the names of nodes that qualify. Without any it is [], for JSON.
func matching(rules *regex.Rules, names []string) []string {
	return slices.DeleteFunc(append([]string{}, names...), func(name string) bool { return rules.Judge(name) != regex.Qualifies })
}

// nodeNames returns the names in a file, or else those of the cluster's nodes with some
// labels, in order.
func (o *options) nodeNames(ctx context.Context, file, selector string) ([]string, error) {
	if file != "" {
		return o.readNames(file)
	}
	nodes, err := o.nodes(ctx, selector)
	if err != nil {
		return nil, err
	}
	return namesOf(nodes), nil
}

func namesOf(nodes []*v1.Node) []string {
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Name
	}
	slices.Sort(names)
	return names
}

// readNames reads a file of names, one a line, or what `kubectl get nodes -o name`
// prints.
func (o *options) readNames(file string) (names []string, err error) {
	text, err := o.readFile(file)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		name := strings.TrimPrefix(strings.TrimSpace(line), "node/")
		if strings.ContainsAny(name, " \t:") {
			return nil, fmt.Errorf("%s:%d: not the name of a node, as `kubectl get nodes -o name` prints it: %q", file, i+1, name)
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// readFile reads a file, or standard input for -.
func (o *options) readFile(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(o.In)
	}
	return readfile.All(file)
}
