// Package compare shows what a change of the scheduler's configuration, or of its
// version, changes: it puts the same objects into two simulators, one for each
// configuration, lets them schedule the same pods in the same order, and tells which
// pods came out differently, and why. Each of the two is a process of its own, which
// writes a [side.Result].
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
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/sets"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/side"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// Options say what is compared.
type Options struct {
	A, B     side.Scheduler
	Cluster  *snapshot.Snapshot // what both sides get. Its configuration is left alone
	Pods     string             // one of side.Modes: what of the cluster's pods is scheduled
	Scenario side.Scenario      // what happens then
	Wanted                      // what the result says of nodes
	Runs     int                // how often, with another seed each time. Less than 1 is 1
	Seed     uint64             // that of the first run; the others follow it
	// Plugins are the further plugins of this program, by name, which sides without a
	// program of their own have, too.
	Plugins  frameworkruntime.Registry
	Patience time.Duration       // as in side.Options
	InTurn   bool                // run one side after the other, which takes half the memory
	Progress func(side.Progress) // is told how far a side is, from several goroutines. It may be nil
	Warnings io.Writer           // gets a line for each thing that a person should know. It may be nil
}

// AddFlags makes flags of how pods are scheduled.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	side.AddFlags(flags, &o.Pods, &o.Seed, &o.Patience)
	flags.Lookup("seed").Usage = "of the first run; those after it count up from it"
	flags.IntVar(&o.Runs, "runs", 1, "how often, with another seed each time, to see what chance does")
	flags.BoolVar(&o.InTurn, "in-turn", false, "one side after the other, which takes half the memory")
}

// checks is the step before anything is started.
const checks = "checks the configuration"

// Run compares, with a process for each side. On an error, or when ctx is done, both have
// ended when it returns, and nothing is left of them. Where no pod is there to be
// scheduled, the error is [ErrNothing].
func Run(ctx context.Context, o Options) (*Result, error) {
	o.Patience, o.Runs = cmp.Or(o.Patience, side.DefaultPatience), max(o.Runs, 1)
	began := time.Now()
	if err := side.CheckMode(o.Pods); err != nil {
		return nil, err
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

func (o *Options) run(ctx context.Context, dir string, run int, cluster []byte) (results [2]*side.Result, err error) {
	group, ctx := errgroup.WithContext(ctx)
	if o.InTurn {
		group.SetLimit(1)
	}
	for i, one := range o.sides() {
		group.Go(func() error {
			err := o.runProcess(ctx, dir, run, i, cluster)
			if err == nil || ctx.Err() != nil {
				return context.Cause(ctx) // if it was stopped by its user, or by the other's end
			}
			return SideErrors{{letter(i), err, one}}
		})
	}
	if err := group.Wait(); err != nil {
		return results, err
	}
	for i, one := range o.sides() { // once both clusters' memory is free
		if results[i], err = side.Read(resultFile(dir, i)); err != nil {
			return results, SideErrors{{letter(i), err, one}}
		}
	}
	return results, nil
}

// runProcess has the process of a side schedule, or only look at the configuration if there
// is no cluster.
func (o *Options) runProcess(ctx context.Context, dir string, run, i int, cluster []byte) error {
	one := o.sides()[i]
	return side.Process{Program: one.Program, Dir: dir, Result: resultFile(dir, i)}.Run(ctx, side.Options{
		Name: one.Name, Config: one.Config, Pods: o.Pods, Schedulers: o.schedulers(), Scenario: o.Scenario,
		Seed: o.Seed + uint64(run), Patience: o.Patience, Warnings: o.Warnings,
		Progress: func(step string, done, of int) { o.say(run, i, step, done, of) },
	}, cluster)
}

func resultFile(dir string, i int) string { return filepath.Join(dir, letter(i)+".json.gz") }

func (o *Options) sides() []side.Scheduler { return []side.Scheduler{o.A, o.B} }

// schedulers are those of either side.
func (o *Options) schedulers() []string { return sets.List(o.A.Profiles().Union(o.B.Profiles())) }

func (o *Options) say(run, i int, step string, done, of int) {
	if o.Progress != nil {
		o.Progress(side.Progress{Run: run + 1, Runs: o.Runs, Side: letter(i), Step: step, Done: done, Of: of})
	}
}

func letter(side int) string { return "AB"[side : side+1] }

// check looks at both configurations, as far as that can be done without a cluster.
// Another program does so itself.
func (o *Options) check(ctx context.Context, dir string) error {
	var wrong SideErrors
	for i, one := range o.sides() {
		o.say(0, i, checks, 0, 0)
		var err error
		if one.Program == "" {
			err = simulator.CheckSchedulerConfig(ctx, one.Config, o.Plugins)
		} else {
			err = o.runProcess(ctx, dir, 0, i, nil)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			wrong = append(wrong, SideError{letter(i), err, one})
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// ErrNothing is why there is no result: nothing would be compared, or nothing was.
var ErrNothing = errors.New("nothing to compare")

// nothing says why no pod is there to be scheduled, or returns nil.
func (o *Options) nothing() error {
	if len(o.Scenario.Steps) > 0 {
		return nil
	}
	run, ours := 0, sets.New(o.schedulers()...)
	for i := range o.Cluster.Pods {
		pod := &o.Cluster.Pods[i]
		if !side.Ended(pod) && side.Queued(pod, o.Pods, ours) {
			return nil
		} else if !side.Ended(pod) {
			run++
		}
	}
	switch {
	case run == 0:
		return fmt.Errorf("%w: the cluster has no pods", ErrNothing)
	case o.Pods == side.All:
		return fmt.Errorf("%w: no pod of the cluster is for a scheduler that A or B has", ErrNothing)
	}
	return fmt.Errorf("%w: every pod of the cluster has a node", ErrNothing)
}

// SideError is why one of the sides cannot be compared.
type SideError struct {
	Side string // A or B
	Err  error

	scheduler side.Scheduler
}

// Error begins with the side's label, and gives the line of each field that is wrong.
func (e SideError) Error() string {
	return cmp.Or(e.scheduler.Label, e.scheduler.Name) + ": " + side.WithLines(e.Err).Error()
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

// JudgeFiles compares two results of the same task, as [Run] does with those that it
// has made.
func JudgeFiles(a, b string, wanted Wanted) (*Result, error) {
	onA, err := side.Read(a)
	if err != nil {
		return nil, err
	}
	onB, err := side.Read(b)
	if err != nil {
		return nil, err
	}
	if other := sets.List(differing(onA.Task, onB.Task)); len(other) > 0 {
		return nil, fmt.Errorf("%s and %s cannot be compared, since more than the configuration differs: %s", a, b, strings.Join(other, ", "))
	}
	result := newResult(&Options{A: side.Scheduler{Name: onA.Name}, B: side.Scheduler{Name: onB.Name}, Pods: onA.Mode, Wanted: wanted})
	result.Steps, result.Took = onA.Steps, onA.Took+onB.Took
	if err := result.judge(onA, onB); err != nil {
		return nil, err
	}
	result.finish()
	return result, nil
}

// judge adds what came of a run.
func (r *Result) judge(a, b *side.Result) error {
	if err := r.wanted.check(a.Nodes); err != nil {
		return err
	}
	if r.add(a.Seed, judge(a, b)); r.Asked == 0 {
		return r.nothing()
	}
	if a.Kubernetes != b.Kubernetes && len(r.Runs) == 1 {
		r.A, r.B = r.A+" (Kubernetes "+a.Kubernetes+")", r.B+" (Kubernetes "+b.Kubernetes+")"
	}
	return nil
}
