package extender_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// The algorithms below misbehave, each in one way, for the tests of the server.
func init() {
	register("test-panics", fault(func(context.Context) error { panic("as configured") }))
	register("test-fails", fault(func(context.Context) error { return errors.New("failed as configured") }))
	register("test-answers-for-one", answers{make([]*algorithm.Failure, 1), []int64{0}})
	register("test-scores-too-high", answers{scores: []int64{0, 10, 11}})
	register("test-scores-too-low", answers{scores: []int64{0, 10, -1}})
	register("test-waits", fault(func(context.Context) error {
		waiting.Add(1)
		defer waiting.Add(-1)
		<-*release.Load()
		return nil
	}))
	register("test-panics-in-background", panicsInBackground{})
}

// Requests to test-waits wait until the current channel is closed.
var (
	waiting atomic.Int64
	release atomic.Pointer[chan struct{}]
)

// hold makes the requests to test-waits wait until the returned function is
// called.
func hold(t testing.TB) (letGo func()) {
	testkit.EventuallyHolds(t, "the requests of other tests to end", func() bool { return waiting.Load() == 0 })
	c := make(chan struct{})
	release.Store(&c)
	return func() { close(c) }
}

func register(name string, a algorithm.Algorithm) {
	extender.Register(name, func(*extender.Algorithms, logr.Logger) (algorithm.Algorithm, error) { return a, nil })
}

type fault func(context.Context) error

func (f fault) Filter(ctx context.Context, _ *algorithm.Args) ([]*algorithm.Failure, error) {
	return nil, f(ctx)
}

func (f fault) Prioritize(ctx context.Context, args *algorithm.Args) ([]int64, error) {
	return algorithm.Equal(1, len(args.Names)), f(ctx)
}

type answers struct {
	failures []*algorithm.Failure
	scores   []int64
}

func (a answers) Filter(context.Context, *algorithm.Args) ([]*algorithm.Failure, error) {
	return a.failures, nil
}

func (a answers) Prioritize(context.Context, *algorithm.Args) ([]int64, error) {
	return a.scores, nil
}

type panicsInBackground struct{ fault }

func (panicsInBackground) Run(context.Context) { panic("in the background") }

func (panicsInBackground) Health() algorithm.Health { return algorithm.Health{OK: true} }

func (panicsInBackground) Filter(context.Context, *algorithm.Args) ([]*algorithm.Failure, error) {
	return nil, nil
}
