package extender_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// The algorithms below misbehave, each in one way, for the tests of the server.
func init() {
	register("test-panics", func(context.Context) error { panic("as configured") })
	register("test-fails", func(context.Context) error { return errors.New("failed as configured") })
	register("test-waits", func(context.Context) error {
		waiting.Add(1)
		defer waiting.Add(-1)
		<-*release.Load()
		return nil
	})
	algorithm.Register("test-panics-in-background", func() none { return none{} }, func(none, algorithm.Env) (algorithm.Algorithm, error) {
		return panicsInBackground{}, nil
	})
}

// Requests to test-waits wait until the current channel is closed.
var (
	waiting atomic.Int64
	release atomic.Pointer[chan struct{}]
)

// hold makes the requests to test-waits wait until the returned function is
// called.
func hold(t testing.TB) (letGo func()) {
	eventually(t, "the requests of other tests to end", func() bool { return waiting.Load() == 0 })
	c := make(chan struct{})
	release.Store(&c)
	return func() { close(c) }
}

type none struct{}

func (none) Validate() error { return nil }

type fault func(context.Context) error

func register(kind string, f fault) {
	algorithm.Register(kind, func() none { return none{} }, func(none, algorithm.Env) (algorithm.Algorithm, error) { return f, nil })
}

func (f fault) Filter(ctx context.Context, _ *algorithm.Args) ([]*algorithm.Failure, error) {
	return nil, f(ctx)
}

func (f fault) Prioritize(ctx context.Context, args *algorithm.Args) ([]int64, error) {
	return algorithm.Equal(1, len(args.Names)), f(ctx)
}

type panicsInBackground struct{ fault }

func (panicsInBackground) Run(context.Context) { panic("in the background") }

func (panicsInBackground) Health() algorithm.Health { return algorithm.Health{OK: true} }

func (panicsInBackground) Filter(context.Context, *algorithm.Args) ([]*algorithm.Failure, error) {
	return nil, nil
}
