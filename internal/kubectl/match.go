package kubectl

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// matched is what match answers.
type matched struct {
	Pattern string   `json:"pattern"`
	Matches []string `json:"matches"`
	// Nodes is how many there are.
	Nodes int `json:"nodes"`
	// Notes are what the pattern's author may not have meant.
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
			compiled, err := o.policy.Compile(args[0]) // before a cluster is asked for its nodes
			if err != nil {
				return err
			}
			names, err := o.nodeNames(cmd.Context(), file, selector)
			if err != nil {
				return err
			}
			return o.match(compiled, names)
		},
	}
	cmd.Flags().StringVar(&file, "nodes", "", "Take the names of nodes from a file, one a line, not from a cluster; - is standard input")
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "Only nodes with these labels")
	cmd.MarkFlagsMutuallyExclusive("nodes", "selector")
	o.addOutput(cmd, "table", "json", "yaml")
	return cmd
}

func (o *options) match(selector *regex.Selector, names []string) error {
	result := matched{
		Pattern: selector.Pattern(), Matches: matching(selector, names), Nodes: len(names), Notes: dialect.Python(selector.Pattern()),
	}
	if o.output != "table" {
		return o.print(result)
	}
	for _, name := range result.Matches {
		fmt.Fprintln(o.Out, name)
	}
	for _, note := range result.Notes {
		fmt.Fprintln(o.ErrOut, "note:", note)
	}
	fmt.Fprintf(o.ErrOut, "%d of %s\n", len(result.Matches), count(len(names), "node matches", "nodes match"))
	return nil
}

// matching are the names that a pattern matches.
func matching(selector *regex.Selector, names []string) []string {
	matches := []string{}
	for _, name := range names {
		if selector.Match(name) {
			matches = append(matches, name)
		}
	}
	return matches
}

// nodeNames are those of a file, or else of the cluster's nodes with some labels,
// in order.
func (o *options) nodeNames(ctx context.Context, file, selector string) ([]string, error) {
	if file != "" {
		return o.readNames(file)
	}
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	nodes, err := listNodes(ctx, client, selector)
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
func (o *options) readNames(file string) ([]string, error) {
	in, closing, err := o.open(file)
	if err != nil {
		return nil, err
	}
	defer closing()
	var names []string
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		name := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "node/")
		if strings.ContainsAny(name, " \t:") {
			return nil, fmt.Errorf("%s:%d: want the name of a node and nothing else, as `kubectl get nodes -o name` prints it: %q", file, n, name)
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names, lines.Err()
}

// open opens a file, or standard input for -.
func (o *options) open(file string) (io.Reader, func(), error) {
	if file == "-" {
		return o.In, func() {}, nil
	}
	f, err := os.Open(file)
	return f, func() { f.Close() }, err
}
