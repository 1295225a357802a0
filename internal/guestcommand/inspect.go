package guestcommand

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

func newInspect() *cobra.Command {
	var args wasmhost.Args
	cmd := &cobra.Command{
		Use:   "inspect FILE|URL",
		Short: "Show what a guest exports, imports and declares",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, given []string) error {
			var err error
			args.GuestURL, err = urlOf(given[0])
			if err != nil {
				return err
			}
			return inspect(cmd.Context(), cmd.OutOrStdout(), args)
		},
	}
	argsFlags(cmd, &args)
	return cmd
}

func inspect(ctx context.Context, out io.Writer, args wasmhost.Args) (err error) {
	host := wasmhost.New(fetch.Fetcher{}.Options())
	defer func() { err = errors.Join(err, host.Close()) }()
	began := time.Now()
	started, err := host.Start(ctx, pluginName, args)
	if err != nil {
		return err
	}
	took := time.Since(began)
	d := started.Describe()
	decidesBy := []string{"it does not say"}
	if d.DecidesBy != nil {
		decidesBy = nil
		for _, field := range slices.Concat(d.DecidesBy.Pod, d.DecidesBy.Node) {
			decidesBy = append(decidesBy, field.String())
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"guest", d.URL},
		{"size", fmt.Sprintf("%d bytes", d.Size)},
		{"sha256", fmt.Sprintf("%x", d.SHA256)},
		{"exports", strings.Join(d.Exports, ", ")},
		{"imports", strings.Join(d.Imports, ", ")},
		{"decides by", strings.Join(decidesBy, ", ")},
		{"remembered", cmp.Or(d.NotRemembered, "yes, and pods that are alike are batched")},
		{"instances", fmt.Sprintf("%d: %s", d.Instances, d.WhyInstances)},
		{"start", took.Round(time.Millisecond).String()},
		{"memory", fmt.Sprintf("%.1f MiB for each instance", float64(d.Memory)/(1<<20))},
	} {
		printable.Fprintf(table, "%s\t%s\n", line[0], line[1])
	}
	return table.Flush()
}
