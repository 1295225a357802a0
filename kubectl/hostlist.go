package kubectl

import (
	"fmt"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
)

func newHostlist() *cobra.Command {
	return &cobra.Command{
		Use:   "hostlist LIST",
		Short: "Convert a hostlist, as Slurm writes it, to a pattern",
		Long: "Convert a hostlist, as Slurm writes it, to a pattern. A hostlist is names with ranges of numbers in brackets, separated by commas.\n" +
			"The pattern matches these names only. The numbers of a range have as many digits as its first number.",
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
