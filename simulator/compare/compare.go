// Package compare shows what a change of the scheduler's configuration, or of its
// version, changes: it puts the same objects into two simulators, one for each
// configuration, lets them schedule the same pods in the same order, and tells which
// pods came out differently, and why. Each of the two is a process of its own, which
// writes a [SideResult].
//
// Chance is told from cause. Where kube-scheduler leaves something to chance, both
// sides choose by the same seed, and what remains chance is counted as a tie.
//
// It is no API. It prints nothing and serves nothing: package report writes what
// [Run] returns.
package compare

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/sets"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// Side is one of the two configurations.
type Side struct {
	Name   string // what it is called in the result: its file, or its door
	Label  string // what errors begin with. Empty: Name
	Config []byte // the KubeSchedulerConfiguration
	// Program is the simulator that runs it, say of another minor of Kubernetes. Empty:
	// the program that this process runs.
	Program string
}

// Check looks at the configuration, as far as that can be done without a cluster.
func (s Side) Check(ctx context.Context, plugins frameworkruntime.Registry) error {
	if err := simulator.CheckSchedulerConfig(ctx, s.Config, plugins); err != nil {
		return fmt.Errorf("%s: %w", s.Label, withLines(err))
	}
	return nil
}

// Options say what is compared.
type Options struct {
	A, B     Side
	Cluster  *snapshot.Snapshot // what both sides get. Its configuration is left alone
	Pods     string             // one of Modes: what of the cluster's pods is scheduled
	Scenario Scenario           // what happens then
	Wanted                      // what the result says of nodes
	Runs     int                // how often, with another seed each time. Less than 1 is 1
	Seed     uint64             // that of the first run; the others follow it
	// Plugins are the further plugins of this program, by name, which sides without a
	// program of their own have, too.
	Plugins frameworkruntime.Registry
	// Patience bounds how long nothing new may happen while something is under way.
	// Zero is DefaultPatience.
	Patience time.Duration
	InTurn   bool           // run one side after the other, which takes half the memory
	Progress func(Progress) // is told how far a side is, from several goroutines. It may be nil
	Warnings io.Writer      // gets a line for each thing that a person should know. It may be nil
}

// AddFlags makes flags of how pods are scheduled.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	addFlags(flags, &o.Pods, &o.Seed, &o.Patience)
	flags.Lookup("seed").Usage = "of the first run; those after it count up from it"
	flags.IntVar(&o.Runs, "runs", 1, "how often, with another seed each time, to see what chance does")
	flags.BoolVar(&o.InTurn, "in-turn", false, "one side after the other, which takes half the memory")
}

func addFlags(flags *pflag.FlagSet, pods *string, seed *uint64, patience *time.Duration) {
	flags.StringVar(pods, "pods", Pending,
		"which pods are scheduled: pending (those without a node), or all (every pod anew, in the order of creation)")
	flags.Uint64Var(seed, "seed", 1, "by which is chosen what kube-scheduler leaves to chance")
	flags.DurationVar(patience, "patience", DefaultPatience, "how long nothing new may happen before a side is given up")
}

// Progress is how far a side is.
type Progress struct {
	Run, Runs int
	Side      string // A or B; empty where there is one alone
	Step      string
	Done, Of  int // Of is 0 if nobody knows
}

func (p Progress) String() string {
	line := p.Step
	if p.Side != "" {
		line = p.Side + ": " + line
	}
	if p.Of > 0 {
		line += fmt.Sprintf(", %d of %d", p.Done, p.Of)
	}
	if p.Runs > 1 {
		line = fmt.Sprintf("run %d of %d, %s", p.Run, p.Runs, line)
	}
	return line
}

// checks is the step before anything is started.
const checks = "checks the configuration"

// Schedules is the step in which the scheduler is at work.
const Schedules = "schedules"

// DefaultPatience is longer than anything takes that the scheduler waits for.
const DefaultPatience = 2 * time.Minute

// Run compares, with a process for each side. On an error, or when ctx is done, both have
// ended when it returns, and nothing is left of them. Where no pod is there to be
// scheduled, the error is [ErrNothing].
func Run(ctx context.Context, o Options) (*Result, error) {
	o.Patience, o.Runs = cmp.Or(o.Patience, DefaultPatience), max(o.Runs, 1)
	began := time.Now()
	if err := checkMode(o.Pods); err != nil {
		return nil, err
	}
	if os.Getenv(isSide) != "" {
		return nil, errors.New("the process of a side was asked to compare: its program lacks the command " + SideName)
	}
	if err := o.checkWanted(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sides-")
	if err != nil {
		return nil, fmt.Errorf("directory for the sides: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := o.check(ctx, dir); err != nil {
		return nil, err
	}
	if err := o.nothing(); err != nil {
		return nil, err
	}
	cluster, err := json.Marshal(o.Cluster)
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // that of guests that were compiled, too
	result := newResult(&o)
	for i := range o.Runs {
		sides, err := o.run(ctx, dir, i, cluster)
		if err != nil {
			return nil, err
		}
		if err := result.judge(sides[0], sides[1]); err != nil {
			return nil, err
		}
	}
	result.finish()
	result.Took = time.Since(began)
	debug.FreeOSMemory() // two results' worth
	return result, nil
}

func (o *Options) run(ctx context.Context, dir string, run int, cluster []byte) (results [2]*SideResult, err error) {
	group, ctx := errgroup.WithContext(ctx)
	if o.InTurn {
		group.SetLimit(1)
	}
	for i, config := range o.sides() {
		group.Go(func() error {
			err := o.runProgram(ctx, dir, run, i, cluster)
			if err == nil || ctx.Err() != nil {
				return context.Cause(ctx) // if it was stopped by its user, or by the other's end
			}
			return SideErrors{{letter(i), err, config}}
		})
	}
	if err := group.Wait(); err != nil {
		return results, err
	}
	for i := range results { // once both clusters' memory is free
		if results[i], err = ReadSideResult(resultFile(dir, i)); err != nil {
			return results, SideErrors{{letter(i), err, o.sides()[i]}}
		}
	}
	return results, nil
}

func (o *Options) sides() []Side { return []Side{o.A, o.B} }

// schedulers are those of either side.
func (o *Options) schedulers() []string {
	return sets.List(schedulerNames(o.A.Config).Union(schedulerNames(o.B.Config)))
}

func (o *Options) say(run, side int, step string, done, of int) {
	if o.Progress != nil {
		o.Progress(Progress{Run: run + 1, Runs: o.Runs, Side: letter(side), Step: step, Done: done, Of: of})
	}
}

func letter(side int) string { return "AB"[side : side+1] }

// check looks at both configurations, as far as that can be done without a cluster.
// Another program does so itself.
func (o *Options) check(ctx context.Context, dir string) error {
	var wrong SideErrors
	for i, config := range o.sides() {
		o.say(0, i, checks, 0, 0)
		var err error
		if config.Program == "" {
			err = simulator.CheckSchedulerConfig(ctx, config.Config, o.Plugins)
		} else {
			err = o.runProgram(ctx, dir, 0, i, nil)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			wrong = append(wrong, SideError{letter(i), err, config})
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// SideError is why one of the sides cannot be compared.
type SideError struct {
	Side string // A or B
	Err  error

	config Side
}

// Error begins with the side's label, and gives the line of each field that is wrong.
func (e SideError) Error() string {
	return cmp.Or(e.config.Label, e.config.Name) + ": " + withLines(e.Err).Error()
}

// withLines has what is wrong with a configuration say where.
func withLines(err error) error {
	mistakes := scheduler.Mistakes(nil)
	if !errors.As(err, &mistakes) {
		return err
	}
	var lines []string
	for _, m := range mistakes {
		lines = append(lines, fmt.Sprintf("line %d: %v", max(1, m.Line), m))
	}
	return errors.New(strings.Join(lines, "; "))
}

// SideErrors are those of one side or of both.
type SideErrors []SideError

func (e SideErrors) Error() string {
	var all []string
	for _, one := range e {
		all = append(all, one.Error())
	}
	return strings.Join(all, "; ")
}
