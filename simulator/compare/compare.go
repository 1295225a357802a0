package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// Side is one of the two configurations.
type Side struct {
	// Name is what it is called in the result: its file, or its door.
	Name string
	// Label is what errors begin with. Empty: Name.
	Label string
	// Config is the KubeSchedulerConfiguration.
	Config []byte
}

// Options say what is compared.
type Options struct {
	A, B Side
	// Cluster has the objects that both sides get. Its configuration is left alone.
	Cluster *snapshot.Snapshot
	// Pods is one of Modes: what of the cluster's pods is scheduled.
	Pods string
	// Scenario is what happens then.
	Scenario Scenario
	// Runs is how often it is done, with other dice each time. Less than 1 is 1.
	Runs int
	// Seed is that of the first run; the others follow it.
	Seed uint64
	// Patience bounds how long nothing new may happen while something is under way.
	// Zero is DefaultPatience.
	Patience time.Duration
	// InTurn runs the sides one after the other, which takes half the memory.
	InTurn bool
	// Progress, which may be nil, is told how far a side is, from two goroutines.
	Progress func(Progress)
	// Warnings gets a line for each thing that a person should know. It may be nil.
	Warnings io.Writer
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
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	o.Runs = max(o.Runs, 1)
	p, err := newPlan(&o)
	if err != nil {
		return nil, err
	}
	if err := o.check(ctx); err != nil {
		return nil, err
	}
	if len(p.queue)+len(o.Scenario.Steps) == 0 {
		return nil, p.nothing(o.Pods)
	}
	result := newResult(&o, p)
	for i := range o.Runs {
		a, b, err := o.once(ctx, p, i)
		if err != nil {
			return nil, err
		}
		if result.add(i, o.Seed+uint64(i), judge(p, a, b)); result.Asked == 0 {
			return nil, result.nothing()
		}
		debug.FreeOSMemory() // two clusters' worth
	}
	result.finish()
	return result, nil
}

// once is a single run.
func (o *Options) once(ctx context.Context, p *plan, run int) (a, b *sideResult, err error) {
	group, ctx := errgroup.WithContext(ctx)
	if o.InTurn {
		group.SetLimit(1)
	}
	for _, one := range []struct {
		letter string
		Side
		into **sideResult
	}{{"A", o.A, &a}, {"B", o.B, &b}} {
		s := &side{
			Side: one.Side, seed: o.Seed + uint64(run), patience: o.Patience, warnings: o.Warnings,
			say: func(step string, done, of int) { o.say(run, one.letter, step, done, of) },
		}
		group.Go(func() (err error) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			*one.into, err = s.whole(ctx, p)
			if err != nil && ctx.Err() != nil {
				return context.Cause(ctx) // it was told to stop, by its user or the other's end
			}
			if err != nil {
				return SideErrors{{Side: one.letter, Title: s.title(), Err: err}}
			}
			return nil
		})
	}
	return a, b, group.Wait()
}

func (o *Options) say(run int, letter, step string, done, of int) {
	if o.Progress != nil {
		o.Progress(Progress{Run: run + 1, Runs: o.Runs, Side: letter, Step: step, Done: done, Of: of})
	}
}

// whole is a cluster from its start to its end.
func (s *side) whole(ctx context.Context, p *plan) (result *sideResult, err error) {
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(ctx, p); err != nil {
		return nil, err
	}
	if err := s.run(ctx, p); err != nil {
		return nil, err
	}
	s.learnVictims(ctx, p)
	pods, err := s.pods(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what came of it: %w", err)
	}
	nodes, err := s.nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what came of it: %w", err)
	}
	result = newSideResult(p, s.outcomes(), pods, nodes, s.notices)
	result.setups, err = newSetups(s.Config, s.scheduler().sched.Profiles)
	return result, err
}
