// Package compare shows what a change of the scheduler's configuration, or of its
// version, changes: it has two schedulers place the same pods in two copies of a cluster in
// memory, and reports which pods differ, and why.
//
// Chance is separated from cause. Where kube-scheduler leaves something to chance, both
// sides choose by the same seed, and what remains chance is counted as a tie.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Scheduler is a scheduler that can be tried.
type Scheduler struct {
	Name   string // what it is called in results
	Label  string // what errors begin with. Empty: Name
	Config []byte // the KubeSchedulerConfiguration
	// Program is the simulator that runs it, say of another minor of Kubernetes. Empty:
	// this process does.
	Program string
}

// Options say what is compared.
type Options struct {
	A        Scheduler
	B        []Scheduler        // each is compared with A
	Cluster  *snapshot.Snapshot // what all of them get. It is used up: the last side has no copy
	Pods     string             // one of side.Modes: what of the cluster's pods is scheduled
	Scenario side.Scenario      // what happens then
	Seed     uint64             // of what kube-scheduler leaves to chance
	// WhatIf is what the engine needs of a configuration, but for Cluster and Seed. What it needs ends with done.
	WhatIf   func(config []byte) (o engine.Options, done func() error, err error)
	Progress func(Progress) // gets how far a side is, from several goroutines. It may be nil
}

// Progress is how far a side is.
type Progress struct {
	Side     string // A, B, …; empty where there is one alone
	Step     string
	Done, Of int // Of is 0 if it is not known
}

func (p Progress) String() string {
	line := p.Step
	if p.Side != "" {
		line = p.Side + ": " + line
	}
	if p.Of > 0 {
		line += fmt.Sprintf(", %d of %d", p.Done, p.Of)
	} else if p.Done > 0 {
		line += fmt.Sprintf(", %d", p.Done)
	}
	return line
}

// Run compares A with each of B, and gives a result for each of these. Where no pod is
// tried, the error is [ErrNothing]; where a configuration is at fault, [SideErrors].
// When it returns, nothing is left of it.
func Run(ctx context.Context, o Options) (results []*Result, err error) {
	if err := side.CheckMode(o.Pods); err != nil {
		return nil, err
	}
	of := ""
	if o.Cluster.Source != nil {
		of = o.Cluster.Source.String()
	}
	sides, err := o.run(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range sides[1:] {
		result, err := newResult(sides[0], b)
		if err != nil {
			return nil, err
		}
		result.Cluster = of
		results = append(results, result)
	}
	return results, nil
}

func (o *Options) sides() []Scheduler { return append([]Scheduler{o.A}, o.B...) }

// run runs all sides. That a configuration is wrong is found before anything is scheduled.
func (o *Options) run(ctx context.Context) ([]*side.Result, error) {
	ready := make([]prepared, len(o.sides()))
	defer func() {
		for i := range ready {
			ready[i].close()
		}
	}()
	var wrong SideErrors
	for i, one := range o.sides() {
		var err error
		ready[i], err = o.prepare(ctx, i)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			wrong = append(wrong, SideError{o.letter(i), err, one})
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	*o.Cluster = snapshot.Snapshot{} // the sides have all of it
	results := make([]*side.Result, len(ready))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, one := range o.sides() {
		group.Go(func() (err error) {
			defer ready[i].close() // the others may need the memory
			results[i], err = ready[i].run(ctx)
			if err == nil || ctx.Err() != nil {
				return context.Cause(ctx) // if it was stopped by its user, or by the end of another
			}
			return SideErrors{{o.letter(i), err, one}}
		})
	}
	return results, group.Wait()
}

// prepared is a side that is ready to run, once.
type prepared struct {
	run func(context.Context) (*side.Result, error)
	end func()
}

// close ends the side, if it has not ended, and lets go of its cluster.
func (p *prepared) close() {
	if p.end != nil {
		p.end()
	}
	*p = prepared{}
}

// prepare makes a side ready to run, here or in a process of its own.
func (o *Options) prepare(ctx context.Context, i int) (p prepared, err error) {
	one := o.sides()[i]
	options := side.Options{
		Name: one.Name, Text: one.Config, Pods: o.Pods, Schedulers: o.schedulers(), Scenario: o.Scenario,
		Progress: func(step string, done, of int) { o.say(i, step, done, of) },
	}
	if one.Program != "" {
		options.Cluster = o.Cluster
		options.Seed = o.Seed
		process, err := side.NewProcess(one.Program, options)
		if err != nil {
			return p, err
		}
		run := func(ctx context.Context) (*side.Result, error) {
			o.say(i, "runs "+one.Program, 0, 0)
			return process.Run(ctx)
		}
		return prepared{run, process.Close}, nil
	}
	o.say(i, "reads the cluster", 0, 0)
	var done func() error
	options.Options, done, err = o.WhatIf(one.Config)
	if err != nil {
		return p, err
	}
	options.Seed = o.Seed
	options.Cluster = o.Cluster
	if i < len(o.B) {
		options.Cluster = o.Cluster.DeepCopy()
	}
	s, err := side.New(ctx, options)
	if err != nil {
		return p, cmp.Or(done(), err)
	}
	return prepared{s.Run, func() { s.Close(); _ = done() }}, nil
}

// schedulers are the schedulerNames of all sides.
func (o *Options) schedulers() []string {
	all := sets.New[string]()
	for _, one := range o.sides() {
		all.Insert(side.Profiles(one.Config)...)
	}
	return sets.List(all)
}

func (o *Options) say(i int, step string, done, of int) {
	if o.Progress != nil {
		o.Progress(Progress{Side: o.letter(i), Step: step, Done: done, Of: of})
	}
}

// letter is what a side is called.
func (o *Options) letter(side int) string {
	if side == 0 {
		return "A"
	}
	return letter(side-1, len(o.B))
}

// ErrNothing is why there is no result: the scheduler tried no pod.
var ErrNothing = errors.New("nothing to compare")

// SideError is why one of the sides cannot be compared.
type SideError struct {
	Side string // A, B, …
	Err  error

	scheduler Scheduler
}

// Error begins with the side's label, and gives the line of each field that is wrong.
func (e SideError) Error() string {
	return cmp.Or(e.scheduler.Label, e.scheduler.Name) + ": " + kubescheduler.WithLines(e.Err).Error()
}

// SideErrors are the errors of all sides that are wrong.
type SideErrors []SideError

func (e SideErrors) Error() string {
	var all []string
	for _, one := range e {
		all = append(all, one.Error())
	}
	return strings.Join(all, "; ")
}

// JudgeFiles compares two results of the same task, as [Run] does with its own.
func JudgeFiles(a, b string) (*Result, error) {
	onA, err := side.Read(a)
	if err != nil {
		return nil, err
	}
	onB, err := side.Read(b)
	if err != nil {
		return nil, err
	}
	other := sets.List(differing(onA.Task, onB.Task, equal))
	if len(other) > 0 {
		return nil, fmt.Errorf("%s and %s cannot be compared, since more than the configuration differs: %s", a, b, strings.Join(other, ", "))
	}
	return newResult(onA, onB)
}
