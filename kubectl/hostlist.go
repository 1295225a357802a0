package kubectl

import (
	"fmt"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
)

func newHostlist() *cobra.Command {
	return &cobra.Command{
		Use:   "hostlist LIST",
		Short: "Print the pattern of a hostlist, as Slurm writes it",
		Long: "Print the pattern of a hostlist, as Slurm writes it: names with ranges of numbers in brackets, separated by commas.\n" +
			"The pattern matches these names and no others. A number in the list has as many digits as the first of its range.",
		Example: "  kubectl regex hostlist 'node[001-128],gpu[1-2]'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pattern, err := dialect.FromHostlist(args[0])
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), pattern)
			}
			return err
		},
	}
}
