// Package kubectl is kubectl's plugin `kubectl regex`: it finds a bad pattern
// before the scheduler sees it, and says what patterns come to on a cluster's nodes.
// It is no API.
//
// It reads, and never writes. What a pattern means and which are refused is
// package regex's to say, in the words that the scheduler uses.
package kubectl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Exit statuses. Whoever lints in a pipeline must tell a mistake in a manifest from
// a lint that did not run.
const (
	exitMistakes = 1
	exitFailed   = 2
)

// errMistakes means that what was looked at is wrong, and that this was printed.
var errMistakes = errors.New("there are mistakes")

// errUnread means that some of it could not be looked at, and that this was printed.
var errUnread = errors.New("not all could be read")

// options are what the commands have in common.
type options struct {
	genericiooptions.IOStreams
	cluster       *genericclioptions.ConfigFlags
	allNamespaces bool
	output        string
	policy        regex.Policy
}

// Run carries out `kubectl regex` and returns its exit status: 0, 1 where a pattern
// or a manifest is wrong, 2 where that could not be found out.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	cmd := newCommand(streams)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	var wrong *regex.PatternError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errMistakes):
		return exitMistakes
	case errors.Is(err, errUnread):
		return exitFailed
	}
	fmt.Fprintln(streams.ErrOut, "error:", err)
	if errors.As(err, &wrong) {
		return exitMistakes
	}
	return exitFailed
}

// displayName is what people write: krew gives the plugin another name than we do.
func displayName() string {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if plugin, ok := strings.CutPrefix(name, "kubectl-"); ok {
		return "kubectl " + strings.ReplaceAll(plugin, "_", "-")
	}
	return "kubectl regex"
}

func newCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, cluster: genericclioptions.NewConfigFlags(true), policy: regex.Default}
	cmd := &cobra.Command{
		Use:   "kubectl-regex",
		Short: "Which nodes a pod's regex matches, and what is wrong with it",
		Long: "Which nodes a pod's regex matches, and what is wrong with it.\n\n" +
			"Exit status 1 means that a pattern or a manifest is wrong, 2 that this could not be found out.",
		Example: "  kubectl regex match 'kubecon-.*'   # which nodes match\n" +
			"  kubectl regex lint deploy/         # mistakes in manifests\n" +
			"  kubectl regex explain web-0        # why a pod is pending",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: displayName()},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return o.policy.Validate()
		},
	}
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	o.cluster.AddFlags(cmd.PersistentFlags())
	cmd.PersistentFlags().StringVar(&o.policy.Annotation, "annotation", o.policy.Annotation, "The annotation that carries the pattern")
	cmd.PersistentFlags().StringVar(&o.policy.ExcludeAnnotation, "exclude-annotation", o.policy.ExcludeAnnotation, "The annotation that carries the pattern of nodes to exclude")
	cmd.AddCommand(newMatch(o), newLint(o), newExplain(o), newPatterns(o), newHostlist())
	cli.Complete(cmd)
	return cmd
}

// addOutput gives a command its --output, which takes the named formats. The first is
// for people, and what it is without the flag.
func (o *options) addOutput(cmd *cobra.Command, formats ...string) {
	output := cmd.Flags().StringP("output", "o", formats[0], "Output format: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.output = *output
		if !slices.Contains(formats, o.output) {
			return fmt.Errorf("--output %s: give one of %s", o.output, strings.Join(formats, ", "))
		}
		return run(cmd, args)
	}
}
