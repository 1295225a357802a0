// Command scheduler is kube-scheduler that runs Wasm guests: every plugin of its
// configuration that carries a guestURL, and the native plugin RegexScheduling.
package main

import (
	"fmt"
	"io"
	"os"

	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // the client's metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the build's metric

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

func main() { os.Exit(run(&wasmhost.Host{}, os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole command. It returns the exit code.
func run(host *wasmhost.Host, args []string, stdout, stderr io.Writer) int {
	cmd := scheduler.NewCommand(host)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err := scheduler.Execute(cmd); err != nil {
		fmt.Fprintln(stderr, "kube-scheduler:", err)
		return 1
	}
	return 0
}
