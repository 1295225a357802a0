// Package kubectl is kubectl's plugin `kubectl regex`. It finds bad patterns before the
// scheduler does, and shows which of a cluster's nodes a pattern matches.
//
// It only reads. Package regex decides what a pattern means and which patterns are
// refused, so the messages are the scheduler's.
package kubectl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Exit statuses. A pipeline must distinguish a mistake in a manifest from a failed lint.
const (
	exitMistakes = 1
	exitFailed   = 2
)

// errMistakes means that there are mistakes, which were printed.
var errMistakes = errors.New("there are mistakes")

// errUnread means that some files could not be read, which was printed.
var errUnread = errors.New("some files could not be read")

// options are common to the commands.
type options struct {
	genericiooptions.IOStreams
	cluster       *genericclioptions.ConfigFlags
	allNamespaces bool
	output        string
	schedulerCA   []byte // PEM; nil if the scheduler's certificate is not checked
	policy        regex.Policy
}

// Run runs `kubectl regex` and returns its exit status: 0, 1 if a pattern or a manifest is
// wrong, and 2 if that could not be found out.
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
	printable.Error(streams.ErrOut, "error", err)
	if errors.As(err, &wrong) {
		return exitMistakes
	}
	return exitFailed
}

// displayName is the command that the user typed. Krew gives the plugin another name.
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
		Short: "Check the regex annotations of pods against nodes and manifests",
		Long: "Check the regex annotations of pods against nodes and manifests.\n\n" +
			"The exit status is 1 if a pattern or a manifest is wrong, and 2 if that could not be found out.",
		Example: "  kubectl regex match 'kubecon-.*'   # list the nodes that match\n" +
			"  kubectl regex lint deploy/         # find mistakes in manifests\n" +
			"  kubectl regex explain web-0        # explain why a pod is pending",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: displayName()},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return o.policy.Validate()
		},
	}
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	o.cluster.AddFlags(cmd.PersistentFlags())
	for r, key := range []*string{&o.policy.Annotation, &o.policy.ExcludeAnnotation, &o.policy.PreferAnnotation} {
		name := strings.ReplaceAll(regex.Role(r).Field(), "Annotation", "-annotation")
		cmd.PersistentFlags().StringVar(key, name, *key, "The key of the annotation with the pattern of "+regex.Role(r).Nodes())
	}
	cmd.AddCommand(newMatch(o), newLint(o), newExplain(o), newWhy(o), newPatterns(o))
	cli.Complete(cmd)
	return cmd
}

// addOutput adds --output with the named formats to a command. The first is the default.
func (o *options) addOutput(cmd *cobra.Command, formats ...string) {
	output := formats[0]
	cmd.Flags().VarP(cli.OneOf(&output, formats...), "output", "o", "Output format. One of: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.PreRun = func(*cobra.Command, []string) { o.output = output }
}
