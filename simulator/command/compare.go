package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/whatif/compare/report"
	"wasmkwokwizardry.io/regex-scheduling/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/whatif/words"
)

type comparison struct {
	compare.Options
	clusterFlags
	scenario, a    string
	b              []string
	programA       string   // that runs the side, instead of this one
	programsB      []string // in the order of b
	format, prices string
	details        bool
	failOn         []string
	acceptUnplaced bool
}

const compareName = "compare"

// gcPercent takes a fifth of the memory of a comparison away, and adds a third to its CPU time:
// two clusters with what was recorded of each attempt are large.
const gcPercent = 50

func newCompare(plugins frameworkruntime.Registry) *cobra.Command {
	c := &comparison{}
	c.WhatIf = func(config []byte) (engine.Options, func() error, error) { return simulator.WhatIf(config, plugins) }
	cmd := newCommand(compareName+" {--cluster cluster.yaml | --kubeconfig FILE} --a a.yaml --b b.yaml | a.json b.json",
		"Schedule the same pods under two configurations, and show which come out differently, and why", nil)
	cmd.Args = cobra.MaximumNArgs(2)
	cmd.RunE = func(cmd *cobra.Command, results []string) error {
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(gcPercent)
		}
		return c.run(cmd, results)
	}
	cmd.Long = cmd.Short + `.

With --b given more than once, each is compared with A, in one table. With two files that
"simulator side" has written, it shows how these differ.

The exit status is 0 if every pod that has a node under A has one under B, 1 if one has none (or
what --fail-on says), and 2 if there was no comparison: if no pod was there to be scheduled, too,
and if pods that run in the cluster have no node under A, unless --accept-unplaced is given.`
	flags := cmd.Flags()
	either := "a KubeSchedulerConfiguration, or one of " + strings.Join(simulator.Variants, ", ")
	c.clusterFlags.add(flags)
	flags.StringVar(&c.a, "a", "", "the configuration as it is: "+either)
	flags.StringArrayVar(&c.b, "b", nil, "the configuration as it would be: "+either+"; may be given more than once")
	sideFlags(flags, &c.Pods, &c.Seed)
	flags.Lookup("seed").Usage = "of the first run; those after it count up from it"
	flags.IntVar(&c.Runs, "runs", 1, "how often, with another seed each time, to see what chance does")
	flags.BoolVar(&c.InTurn, "in-turn", false, "one side after the other, which takes half the memory")
	flags.StringVar(&c.programA, "a-simulator", "", "the simulator that runs A, such as bin/simulator-1.37 (default: this one)")
	flags.StringArrayVar(&c.programsB, "b-simulator", nil, "the simulator that runs B; of several, in their order")
	flags.StringVar(&c.scenario, "scenario", "", "file with what happens then: objects that are created, updated and deleted, in steps")
	flags.BoolVar(&c.acceptUnplaced, "accept-unplaced", false,
		"go by the other pods where some that run in the cluster have no node under A, and list those")
	outputFlag(flags, &c.format, slices.Sorted(maps.Keys(report.Formats)), "table, json, markdown, or html: a page that is one file")
	flags.BoolVar(&c.details, "details", false, "in the table: which pods and nodes differ, and why")
	flags.StringArrayVar(&c.GroupBy, "group-by", nil, "a label of nodes by which they are counted; may be given more than once (default: that of the zone)")
	flags.StringVar(&c.prices, "prices", "", "file with the prices of nodes, by instance type or by another label")
	flags.StringSliceVar(&c.failOn, "fail-on", []string{"lost"}, "when the exit status is 1: lost, moved, spread, cost, or none")
	return cmd
}

// Exit statuses of compare.
const (
	statusLost = 1
	statusNone = 2
)

// lostError is that pods have a node no more, say under B.
type lostError string

func (e lostError) Error() string { return string(e) }

func (c *comparison) run(cmd *cobra.Command, results []string) error {
	write := report.Formats[c.format]
	if err := c.checkReport(); err != nil {
		return err
	}
	if c.details {
		write = report.Details
	}
	all, err := c.results(cmd, results)
	if err != nil {
		return err
	}
	if err := write(cmd.OutOrStdout(), all...); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return c.judge(all)
}

// failures are the words of --fail-on.
var failures = []string{"lost", "moved", "spread", "cost", "none"}

// checkReport looks at the flags of what is told, before anything is started.
func (c *comparison) checkReport() (err error) {
	for _, word := range c.failOn {
		switch {
		case !slices.Contains(failures, word):
			return fmt.Errorf("--fail-on %q is none of %s", word, strings.Join(failures, ", "))
		case word == "none" && len(c.failOn) > 1:
			return errors.New("--fail-on none stands alone: leave it out, or the others")
		case word == "cost" && c.prices == "":
			return errors.New("--fail-on cost needs --prices")
		}
	}
	if c.details && c.format != "table" {
		return fmt.Errorf("--details is for the table: leave it out with -o %s", c.format)
	}
	if len(c.b) > 1 && c.format == "html" {
		return errors.New("-o html is for one --b: run it once for each, or take -o table, markdown or json")
	}
	if c.prices != "" {
		c.Prices, err = compare.ReadPrices(c.prices)
	}
	return err
}

// results are those of two files, if they are given, or else of sides that are run now.
func (c *comparison) results(cmd *cobra.Command, files []string) ([]*compare.Result, error) {
	if len(files) > 0 {
		result, err := c.judgeFiles(cmd, files)
		return []*compare.Result{result}, err
	}
	if err := c.read(cmd); err != nil {
		return nil, err
	}
	progress := progressOf(cmd)
	c.Progress = progress.say
	pods := len(c.Cluster.Pods) // which Run uses up
	results, err := compare.Run(cmd.Context(), c.Options)
	progress.end()
	if errors.Is(err, compare.ErrNothing) && c.Pods == side.Pending && pods > 0 {
		return nil, fmt.Errorf("%w; --pods all schedules anew those that have a node", err)
	}
	return results, err
}

func (c *comparison) judgeFiles(cmd *cobra.Command, files []string) (*compare.Result, error) {
	if len(files) != 2 {
		return nil, fmt.Errorf("%s: two results are compared, and this is one: name that of B, too", files[0])
	}
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"output", "details", "accept-unplaced", "prices", "group-by", "fail-on"}, f.Name) {
			wrong = fmt.Errorf("--%s is for sides that are run, and %s and %s were: leave it out", f.Name, files[0], files[1])
		}
	})
	if wrong != nil {
		return nil, wrong
	}
	return compare.JudgeFiles(files[0], files[1], c.Wanted)
}

func (c *comparison) judge(results []*compare.Result) error {
	var unplaced []string
	for _, pod := range results[0].Unplaced { // which is about A
		unplaced = append(unplaced, pod.Namespace+"/"+pod.Name)
	}
	if n := len(unplaced); !c.acceptUnplaced && n > 0 {
		return fmt.Errorf("%s no node under A: %s; if A is what the cluster runs with, the copy lacks what they need, such as claims and volumes "+
			"(simulator snapshot takes them along); --accept-unplaced goes by the other pods",
			few(n, "runs in the cluster and has", "run in the cluster and have"), words.Few(unplaced))
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

// moreUneven is by how many percent a standard deviation has to be larger under B.
const moreUneven = 1

// failure says what of a result is what a word of --fail-on means.
func failure(word, b string, r *compare.Result) (all []string) {
	lost, moved := r.Lost(), 0
	for _, run := range r.Runs {
		moved = max(moved, run.Moved)
	}
	switch {
	case word == "lost" && lost > 0:
		return []string{few(lost, "has", "have") + " a node under A and none under " + b}
	case word == "moved" && moved > 0:
		return []string{few(moved, "has", "have") + " another node under " + b}
	case word == "cost" && r.Load.B.UsedCost-r.Load.A.UsedCost > .005:
		return []string{fmt.Sprintf("nodes that are used cost %.2f an hour under A and %.2f under %s", r.Load.A.UsedCost, r.Load.B.UsedCost, b)}
	case word == "spread":
		for _, one := range r.Load.Resources() {
			if was, is := r.Load.A.Percent[one].StandardDeviation, r.Load.B.Percent[one].StandardDeviation; is > was+moreUneven {
				all = append(all, fmt.Sprintf("%s is more uneven under %s: %.1f %% under A, %.1f %% under %s", one, b, was, is, b))
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
		return fmt.Errorf("--b-simulator is given %d times, and --b %d times", len(c.programsB), len(c.b))
	}
	if err := c.clusterFlags.check(compareName); err != nil {
		return err
	}
	var wrong []string
	read := func(flag, value string) compare.Scheduler {
		one, err := readScheduler(flag, value)
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
	if c.Scenario, _, err = readScenario(c.scenario); err != nil {
		return err
	}
	c.Cluster, err = c.clusterFlags.read(cmd)
	return err
}
