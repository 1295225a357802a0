// Package compare shows what a change of the scheduler's configuration changes:
// it puts the same objects into two simulators, one for each configuration, lets
// them schedule the same pods in the same order, and tells which pods came out
// differently, and why.
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
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
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
}

// Options say what is compared.
type Options struct {
	A, B     Side
	Cluster  *snapshot.Snapshot // what both sides get. Its configuration is left alone
	Pods     string             // one of Modes: what of the cluster's pods is scheduled
	Scenario Scenario           // what happens then
	Runs     int                // how often, with another seed each time. Less than 1 is 1
	Seed     uint64             // that of the first run; the others follow it
	// Plugins are further plugins that both sides have, by name.
	Plugins frameworkruntime.Registry
	// Patience bounds how long nothing new may happen while something is under way.
	// Zero is DefaultPatience.
	Patience time.Duration
	InTurn   bool           // run one side after the other, which takes half the memory
	Progress func(Progress) // is told how far a side is, from two goroutines. It may be nil
	Warnings io.Writer      // gets a line for each thing that a person should know. It may be nil
}

// AddFlags makes flags of how pods are scheduled.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Pods, "pods", Pending,
		"which pods are scheduled: pending (those without a node), or all (every pod anew, in the order of creation)")
	flags.IntVar(&o.Runs, "runs", 1, "how often, with another seed each time, to see what chance does")
	flags.Uint64Var(&o.Seed, "seed", 1, "of the first run; those after it count up from it")
	flags.DurationVar(&o.Patience, "patience", DefaultPatience, "how long nothing new may happen before a side is given up")
	flags.BoolVar(&o.InTurn, "in-turn", false, "one side after the other, which takes half the memory")
}

// Progress is how far a side is.
type Progress struct {
	Run, Runs int
	Side      string // A or B
	Step      string
	Done, Of  int // Of is 0 if nobody knows
}

func (p Progress) String() string {
	line := p.Side + ": " + p.Step
	if p.Of > 0 {
		line += fmt.Sprintf(", %d of %d", p.Done, p.Of)
	}
	if p.Runs > 1 {
		line = fmt.Sprintf("run %d of %d, %s", p.Run, p.Runs, line)
	}
	return line
}

// Schedules is the step in which the scheduler is at work.
const Schedules = "schedules"

// DefaultPatience is longer than anything takes that the scheduler waits for.
const DefaultPatience = 2 * time.Minute

// Run compares. On an error, or when ctx is done, both clusters are gone when it
// returns. Where no pod is there to be scheduled, the error is [ErrNothing].
func Run(ctx context.Context, o Options) (*Result, error) {
	o.Patience, o.Runs = cmp.Or(o.Patience, DefaultPatience), max(o.Runs, 1)
	began := time.Now()
	p, err := newPlan(&o)
	if err != nil {
		return nil, err
	}
	if err := o.check(ctx); err != nil {
		return nil, err
	}
	if len(p.queue)+len(p.steps) == 0 {
		return nil, p.nothing(o.Pods)
	}
	result := newResult(&o)
	for i := range o.Runs {
		sides, err := o.run(ctx, p, i)
		if err != nil {
			return nil, err
		}
		if result.add(o.Seed+uint64(i), judge(p, sides[0], sides[1])); result.Asked == 0 {
			return nil, result.nothing()
		}
		debug.FreeOSMemory() // two clusters' worth
	}
	result.sort()
	result.Took = time.Since(began)
	return result, nil
}

func (o *Options) run(ctx context.Context, p *plan, run int) (results [2]*sideResult, err error) {
	group, ctx := errgroup.WithContext(ctx)
	if o.InTurn {
		group.SetLimit(1)
	}
	for i, config := range []Side{o.A, o.B} {
		s := &side{
			options: o, config: config.Config, plan: p, seed: o.Seed + uint64(run),
			progress: func(step string, done, of int) { o.say(run, i, step, done, of) },
			removed:  sets.New[types.NamespacedName](), tried: map[types.NamespacedName]tried{}, priorities: map[types.NamespacedName]int32{},
		}
		group.Go(func() (err error) {
			if ctx.Err() == nil {
				results[i], err = s.run(ctx)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx) // stopped by its user, or by the other's end
			}
			if err != nil {
				return SideErrors{{letter(i), err, config}}
			}
			return nil
		})
	}
	return results, group.Wait()
}

func (o *Options) say(run, side int, step string, done, of int) {
	if o.Progress != nil {
		o.Progress(Progress{Run: run + 1, Runs: o.Runs, Side: letter(side), Step: step, Done: done, Of: of})
	}
}

func letter(side int) string { return "AB"[side : side+1] }

// check looks at both configurations, as far as that can be done without a cluster.
func (o *Options) check(ctx context.Context) error {
	var wrong SideErrors
	for i, config := range []Side{o.A, o.B} {
		o.say(0, i, "checks the configuration", 0, 0)
		err := simulator.CheckSchedulerConfig(ctx, config.Config, o.Plugins)
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
	message := e.Err.Error()
	if mistakes := (scheduler.Mistakes)(nil); errors.As(e.Err, &mistakes) {
		var lines []string
		for _, m := range mistakes {
			lines = append(lines, fmt.Sprintf("line %d: %v", max(1, m.Line), m))
		}
		message = strings.Join(lines, "; ")
	}
	return cmp.Or(e.config.Label, e.config.Name) + ": " + message
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
