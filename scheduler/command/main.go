// Package command is the command line of cmd/scheduler, around package scheduler. [Main]
// is for schedulers with plugins of their own, too.
package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	basecli "k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // the client's metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the build's metric

	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// Main is all that main of a scheduler does. The options add plugins to the ones that it
// has, as options of kube-scheduler's own command do:
//
//	command.Main(app.WithPlugin(mine.Name, mine.New))
//
// It does not return. Call it first: this program compiles guests in children of its own.
func Main(options ...app.Option) {
	wasmhost.CompileInChild()
	os.Exit(run(wasmhost.New(wasmhost.Options{}), os.Args[1:], os.Stdout, os.Stderr, options...))
}

// run is the whole command. It returns the exit code.
func run(host *wasmhost.Host, args []string, stdout, stderr io.Writer, options ...app.Option) int {
	plugins, err := scheduler.Registry(options...)
	if err != nil {
		printable.Error(stderr, "kube-scheduler", err)
		return 1
	}
	cmd := scheduler.NewCommand(host, plugins)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err := basecli.RunNoErrOutput(cmd); err != nil {
		fmt.Fprintln(stderr, "kube-scheduler:", wasmhost.OneLine(err.Error()))
		if errors.As(err, new(cli.UsageError)) {
			return cli.StatusUsage
		}
		return 1
	}
	return 0
}
