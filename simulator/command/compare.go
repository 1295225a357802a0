package command

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

type comparison struct {
	compare.Options
	clusterFlags
	scenario, a    string
	b              []string
	programA       string   // that runs the side, instead of this one
	programsB      []string // in the order of b
	format         string
	details        bool
	failOn         []string
	acceptUnplaced bool
}

// gcPercent takes a fifth of the memory of a comparison away, and adds a third to its CPU time:
// two clusters with what was recorded of each attempt are large.
const gcPercent = 50

func newCompare(plugins frameworkruntime.Registry) *cobra.Command {
	c := &comparison{}
	c.WhatIf = func(config []byte) (engine.Options, func() error, error) { return simulator.WhatIf(config, plugins) }
	cmd := whatIfCommand(&cobra.Command{
		Use:   "compare {--cluster FILE | --kubeconfig FILE} --a FILE --b FILE | A.json B.json",
		Short: "Compare where pods are scheduled under two configurations",
		Long: `Schedule the pods of a copy of a cluster under two configurations, and show which pods differ, and why. With
several --b, each is compared with A, in one table. With two files of "simulator side", it compares these.

The exit status is 0 if every pod that has a node under A has one under B, 1 if one has none (or as --fail-on
says), and 2 if there is no result: also if no pod is to be scheduled, and if pods that run in the cluster
have no node under A, unless --accept-unplaced is given.`,
		Example: `  # Show what a new configuration changes for the pending pods
  simulator compare --cluster cluster.yaml --a before.yaml --b after.yaml

  # Reschedule all pods from scratch, and show pods and nodes that differ
  simulator compare --kubeconfig ~/.kube/config --a none --b v2 \
    --pods all --details

  # Write a comment for a pull request, and fail if a pod moves
  simulator compare --cluster cluster.yaml --a before.yaml --b after.yaml \
    -o markdown --fail-on lost,moved`,
		Args: cobra.MaximumNArgs(2),
	}, func(cmd *cobra.Command, results []string) error {
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(gcPercent)
		}
		return c.run(cmd, results)
	})
	flags := cmd.Flags()
	c.clusterFlags.add(flags)
	flags.StringVar(&c.a, "a", "", "current configuration: "+configHelp)
	flags.StringArrayVar(&c.b, "b", nil, "changed configuration: "+configHelp+"; can be repeated")
	sideFlags(flags, &c.Pods, &c.Seed)
	flags.StringVar(&c.programA, "a-simulator", "", "simulator that runs A, such as bin/simulator-1.37 (default: this one)")
	flags.StringArrayVar(&c.programsB, "b-simulator", nil, "simulator that runs B; can be repeated, in the order of --b")
	flags.StringVar(&c.scenario, "scenario", "", scenarioHelp)
	flags.BoolVar(&c.acceptUnplaced, "accept-unplaced", false,
		"compare the other pods if some that run in the cluster have no node under A, and list those")
	outputFlag(flags, &c.format)
	flags.BoolVar(&c.details, "details", false, "also show which pods and nodes differ, and why; the page and JSON always do")
	flags.StringSliceVar(&c.failOn, "fail-on", []string{"lost"}, "when the exit status is 1: "+strings.Join(failures, ", "))
	return cmd
}

func (c *comparison) run(cmd *cobra.Command, results []string) error {
	if err := c.checkFailOn(); err != nil {
		return err
	}
	defer c.notice(cmd)
	all, err := c.results(cmd, results)
	if err != nil {
		return err
	}
	ignored := compare.Ignored(all)
	if len(ignored) > 0 { // no error: the sides are named, and this may be what the cluster does
		fmt.Fprintf(warnings{cmd.ErrOrStderr()}, "warning: %v\n", ignores("A and B", ignored, nil))
	}
	for _, text := range compare.AllRenamed(all) {
		fmt.Fprintf(warnings{cmd.ErrOrStderr()}, "warning: %s\n", text)
	}
	out := cmd.OutOrStdout()
	if err := compare.Write(out, c.format, c.details, all...); err != nil {
		return err
	}
	if c.format == "table" && !c.details {
		fmt.Fprintln(out, "\n--details shows which pods and nodes differ, and why.")
	}
	return c.judge(all)
}

// failures are the words of --fail-on.
var failures = []string{"lost", "moved", "spread", "none"}

// checkFailOn looks at --fail-on, before anything is started.
func (c *comparison) checkFailOn() error {
	for _, word := range c.failOn {
		switch {
		case !slices.Contains(failures, word):
			return fmt.Errorf("--fail-on: invalid value %q: use %s", word, strings.Join(failures, ", "))
		case word == "none" && len(c.failOn) > 1:
			return errors.New("--fail-on none cannot be combined with other values")
		}
	}
	return nil
}

// results are read from two files, if they are given, or else sides are run now.
func (c *comparison) results(cmd *cobra.Command, files []string) ([]*compare.Result, error) {
	if len(files) > 0 {
		result, err := c.judgeFiles(cmd, files)
		return []*compare.Result{result}, err
	}
	if err := c.read(cmd); err != nil {
		return nil, err
	}
	progress := progressOf(cmd)
	c.Progress = progress.show
	pods := len(c.Cluster.Pods) // Run takes them out of it
	results, err := compare.Run(cmd.Context(), c.Options)
	progress.end()
	if errors.Is(err, compare.ErrNothing) && c.Pods == side.Pending && pods > 0 {
		return nil, fmt.Errorf("%w; --pods all reschedules pods that have a node, too", err)
	}
	return results, err
}

func (c *comparison) judgeFiles(cmd *cobra.Command, files []string) (*compare.Result, error) {
	if len(files) != 2 {
		return nil, fmt.Errorf("%s: name two results: that of A and that of B", files[0])
	}
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"output", "details", "accept-unplaced", "fail-on"}, f.Name) {
			wrong = fmt.Errorf("--%s cannot be used with results: %s and %s are complete", f.Name, files[0], files[1])
		}
	})
	if wrong != nil {
		return nil, wrong
	}
	return compare.JudgeFiles(files[0], files[1])
}

func (c *comparison) judge(results []*compare.Result) error {
	var unplaced []string
	for _, pod := range results[0].Unplaced { // which is about A
		unplaced = append(unplaced, pod.Namespace+"/"+pod.Name)
	}
	if !c.acceptUnplaced && len(unplaced) > 0 {
		return fmt.Errorf("%s no node under A: %s; if A is the configuration of the cluster, the copy lacks what they need, such as claims and volumes "+
			"(simulator snapshot saves them); --accept-unplaced compares the other pods",
			few(len(unplaced), "runs in the cluster and has", "run in the cluster and have"), report.Few(unplaced))
	}
	var failed []string
	for _, result := range results {
		under := "B"
		if len(results) > 1 {
			under = result.B
		}
		for _, word := range c.failOn {
			failed = append(failed, failure(word, under, result)...)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return lostError(strings.Join(failed, "; "))
}

// moreImbalance is by how many percent a standard deviation has to be larger under B.
const moreImbalance = 1

// failure says how a result fails by a word of --fail-on.
func failure(word, b string, r *compare.Result) (all []string) {
	lost := r.Counts.OnlyA
	moved := r.Counts.Moved
	switch {
	case word == "lost" && lost > 0:
		return []string{few(lost, "has", "have") + " a node under A and none under " + b}
	case word == "moved" && moved > 0:
		return []string{few(moved, "moves", "move") + " under " + b}
	case word == "spread":
		for _, one := range r.Load.Resources() {
			was := r.Load.A.Imbalance[one]
			is := r.Load.B.Imbalance[one]
			if is > was+moreImbalance {
				all = append(all, fmt.Sprintf("imbalance of %s is larger under %s: %.1f %% under A, %.1f %% under %s", one, b, was, is, b))
			}
		}
	}
	return all
}

func few(n int, one, many string) string {
	if n == 1 {
		return "1 pod " + one
	}
	return fmt.Sprint(n, " pods ", many)
}

// read reads all files, and the cluster, before anything is started.
func (c *comparison) read(cmd *cobra.Command) (err error) {
	switch {
	case c.a == "":
		return errors.New("--a is missing; try simulator compare --help")
	case len(c.b) == 0:
		return errors.New("--b is missing; try simulator compare --help")
	case len(c.programsB) > len(c.b):
		return fmt.Errorf("there are %d --b-simulator for %d --b", len(c.programsB), len(c.b))
	}
	if err := c.clusterFlags.check(cmd); err != nil {
		return err
	}
	var wrong []string
	read := func(flag, value string) compare.Scheduler {
		one, err := readScheduler(cmd.Context(), flag, value)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		return one
	}
	c.A = read("--a", c.a)
	c.A.Program = c.programA
	for _, b := range c.b {
		c.B = append(c.B, read("--b", b))
	}
	for i, program := range c.programsB {
		c.B[i].Program = program
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	if c.Scenario, _, err = readScenario(cmd.Context(), c.scenario); err != nil {
		return err
	}
	c.addsNodes = c.Scenario.AddsNodes()
	c.Cluster, err = c.clusterFlags.read(cmd)
	return err
}
