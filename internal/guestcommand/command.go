// Package guestcommand is bin/guest. What it says of a guest is what the scheduler does
// with it, since package wasmhost says both.
package guestcommand

import (
	"context"
	"errors"
	"flag"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// errNotAsWanted was reported by what is printed already.
var errNotAsWanted = errors.New("not as wanted")

// logTo has klog write each line once: else it writes an error for each severity below, too.
func logTo(out io.Writer) {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "one_output": "true", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(printable.Writer(out))
}

// Run carries out the command and returns its exit status: 0, 1 where a pod finds no
// node or other nodes than it was to find, 2 where something is wrong.
func Run(ctx context.Context, args []string, out, errOut io.Writer) int {
	logTo(errOut)
	root := &cobra.Command{
		Use:   "guest",
		Short: "Create, inspect and run Wasm guests",
		Example: `  guest new disk              # a folder with a guest in Go
  guest run disk.wasm --pod pod.yaml --nodes nodes.yaml`,
	}
	root.AddCommand(newNew(), newInspect(), newRun())
	cli.Complete(root)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return 0
	case errors.Is(err, errNotAsWanted):
		return 1
	default:
		printable.Error(errOut, "guest", err)
		return 2
	}
}
