// Command extender compares the extender with the least that a server can do
// and with the simplest way to write one, on the same requests in the same
// process, and says whether the targets of the project are met.
//
// Absolute times say more about the machine than about the code, so it reports
// ratios to the server that only reads and writes, taken in interleaved rounds.
// It judges nothing in CI: whoever runs it reads it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/bench/progress"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func startProfile(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("bench-extender", flag.ContinueOnError)
	set.SetOutput(stderr)
	sizes := set.String("nodes", "100,1000,5000,10000", "numbers of nodes, rising")
	rounds := set.Int("rounds", 40, "rounds for each number of nodes")
	pattern := set.String("pattern", "kubecon-.*", "the pod's regex; about half of the nodes are named kubecon-…")
	profile := set.String("cpuprofile", "", "file to write a CPU profile of it all to")
	only := set.String("only", "", "measure only full or names")
	if err := set.Parse(args); err != nil {
		return 2
	}
	plan := plan{only: *only, pattern: *pattern, rounds: *rounds, progress: progress.To(stderr)}
	for _, text := range strings.Split(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || *rounds < 1 {
			fmt.Fprintf(stderr, "bench-extender: -nodes %s -rounds %d: must be numbers above 0\n", *sizes, *rounds)
			return 2
		}
		plan.sizes = append(plan.sizes, n)
	}
	if *profile != "" {
		stop, err := startProfile(*profile)
		if err != nil {
			fmt.Fprintf(stderr, "bench-extender: %v\n", err)
			return 1
		}
		defer stop()
	}
	results, err := plan.run(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "\nbench-extender: %v\n", err)
		return 1
	}
	report(stdout, results)
	return 0
}
