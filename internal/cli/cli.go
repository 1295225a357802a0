// Package cli is what the command lines of all programs have in common, beside what cobra
// does: which build a program is, and how usage errors are reported.
package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/version"
)

// StatusUsage is the exit status for a [UsageError].
const StatusUsage = 2

// UsageError is about what was typed.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage makes a UsageError of an error, and nil of none.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// Complete gives a program, once it has all of its commands, the command version, and
// --version where it has no such flag. Its errors are UsageErrors where they are about what
// was typed; the program prints them.
func Complete(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	if root.Flags().Lookup("version") == nil {
		root.Version = version.String()
		root.SetVersionTemplate("{{.Version}}\n")
		root.Flags().Bool("version", false, "print which build this is")
	}
	root.AddCommand(&cobra.Command{
		Use: "version", Short: "Print which build this is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version.String())
			return err
		},
	})
	if !root.Runnable() {
		root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	root.Args, root.SuggestionsMinimumDistance = knownCommand, 2
	markUsage(root)
}

// markUsage has a command and those below it say which of their errors are about what was
// typed.
func markUsage(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return UsageError{err} })
	validate := cmd.Args
	if validate != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := validate(cmd, args); err != nil {
				return UsageError{err}
			}
			return nil
		}
	}
	for _, below := range cmd.Commands() {
		markUsage(below)
	}
}

// knownCommand refuses what is no command, and says which one may be meant.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	similar := cmd.SuggestionsFor(args[0])
	if len(similar) > 0 {
		meant = "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q%s; try %s --help", args[0], meant, cmd.DisplayName())
}
