// Package scheduler is kube-scheduler with this project's plugins in it: the native one, and
// every Wasm plugin that the configuration names. [Main] is the whole program, for schedulers
// with plugins of their own, too.
package scheduler

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

	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// Main is all that main of a scheduler does. The options add plugins to the ones that it
// has, as options of kube-scheduler's own command do:
//
//	scheduler.Main(app.WithPlugin(mine.Name, mine.New))
//
// It does not return. Call it first: this program compiles guests in children of its own.
func Main(options ...app.Option) {
	wasmhost.CompileInChild()
	os.Exit(run(wasmhost.New(fetch.Fetcher{}.Options()), os.Args[1:], os.Stdout, os.Stderr, options...))
}

// maxError is how much of an error is printed, in bytes.
const maxError = 1024

// run is the whole command. It returns the exit code.
func run(host *wasmhost.Host, args []string, stdout, stderr io.Writer, options ...app.Option) int {
	cmd := NewCommand(host, options...)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err := basecli.RunNoErrOutput(cmd); err != nil {
		fmt.Fprintln(stderr, "kube-scheduler:", printable.Line(err.Error(), maxError))
		if errors.As(err, new(cli.UsageError)) {
			return cli.StatusUsage
		}
		return 1
	}
	return 0
}
