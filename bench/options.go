package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/bench/cycle"
	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/bench/whole"
)

// options are what the command can be told.
type options struct {
	quick    bool
	nodes    []int // of the whole scheduler
	pods     int
	guests   string
	floors   string
	out, doc string
	parts    string
	doors    string
	profile  string
	args     []string
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{args: args}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.quick, "quick", false, "under two minutes, with few rounds: for a first look")
	flags.Func("nodes", "nodes of the whole scheduler, one number or more, separated by commas; all but the first for v2 and native only (default 1000,5000, quick 1000)", o.setNodes)
	flags.IntVar(&o.pods, "pods", 0, "pods of the whole scheduler (default 2000, quick 300)")
	flags.StringVar(&o.guests, "guests", "", "further guests to measure: .wasm files, separated by commas")
	flags.StringVar(&o.floors, "floors", "testdata/bench", "folder of the guests that are the floors")
	flags.StringVar(&o.out, "out", "bin/benchmark", "folder for the tables, the plots and the raw numbers")
	flags.StringVar(&o.doc, "doc", "", "Markdown page whose measured part is written anew, the plots in a folder of its name")
	flags.StringVar(&o.parts, "parts", "cycle,whole,start", "what is measured")
	flags.StringVar(&o.doors, "doors", "", "only these doors, separated by commas")
	flags.StringVar(&o.profile, "cpuprofile", "", "file for a profile of the processors, to see where the time goes")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.pods == 0 {
		o.pods = 2000
		if o.quick {
			o.pods = 300
		}
	}
	if len(o.nodes) == 0 {
		o.nodes = []int{1000, 5000}
		if o.quick {
			o.nodes = o.nodes[:1]
		}
	}
	return o, o.validate(stderr)
}

func (o *options) setNodes(list string) error {
	o.nodes = nil
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		o.nodes = append(o.nodes, n)
	}
	return nil
}

func (o options) validate(stderr io.Writer) (err error) {
	for _, part := range strings.Split(o.parts, ",") {
		if !slices.Contains([]string{"cycle", "whole", "start"}, part) {
			err = fmt.Errorf("no part %q: choose of cycle, whole and start", part)
		}
	}
	if slices.Min(o.nodes) < 1 || o.pods < 1 {
		err = fmt.Errorf("%d nodes and %d pods: there must be some", slices.Min(o.nodes), o.pods)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
	}
	return err
}

func (o options) has(part string) bool { return slices.Contains(strings.Split(o.parts, ","), part) }

func (o options) guestFiles() []string {
	if o.guests == "" {
		return nil
	}
	return strings.Split(o.guests, ",")
}

func (o options) cyclePlan() cycle.Plan {
	plan := cycle.Plan{Nodes: []int{100, 1000, 5000}, Rounds: 40, Batch: 4 * time.Millisecond, Limit: time.Second}
	if o.quick {
		plan.Nodes, plan.Rounds, plan.Batch = []int{1000, 5000}, 4, 3*time.Millisecond
		plan.Limit, plan.Skip = 100*time.Millisecond, 100*time.Millisecond
	}
	return plan
}

func (o options) wholePlan(nodes int) whole.Plan {
	plan := whole.Plan{Nodes: nodes, Pods: o.pods, Rounds: 3, Limit: 20 * time.Second}
	if o.quick {
		plan.Limit = 5 * time.Second
	}
	plan.Limit *= time.Duration(max(1, nodes/1000))
	return plan
}

// wholeDoors are the doors that a whole scheduler is measured with: of a quick
// run, and with other numbers of nodes than the first, those that a target is
// about.
func (o options) wholeDoors(doors []door.Door, first bool) []door.Door {
	if !o.quick && first {
		return doors
	}
	return slices.DeleteFunc(slices.Clone(doors), func(d door.Door) bool { return d.Name != "v2" && d.Name != "native-v2" })
}

func (o options) startRounds() int {
	if o.quick {
		return 1
	}
	return 7
}
