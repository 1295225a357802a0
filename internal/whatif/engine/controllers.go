package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/internal/controllers"
)

// controlled are Kubernetes' controllers over the engine's cluster. Their workers work off one key at a time.
// No question uses them yet: what they do is done by rules of ours (recreate.go, ordered.go, taints.go).
type controlled struct {
	engine *Engine
	queues []*queue // in the order in which they are drained
	cancel context.CancelFunc
}

// control starts the controllers. Without it the engine's own rules make pods.
func (e *Engine) control(ctx context.Context) (*controlled, error) {
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, quiet))
	c := &controlled{engine: e, cancel: cancel}
	start := e.Cluster.Control()
	access := controllers.Access{Client: e.Client, Shared: e.Informers, Mapper: e.Mapper()}
	for _, one := range slices.Concat(controllers.Workloads, []controllers.Controller{controllers.Disruption, controllers.NodeLifecycle}) {
		made, err := one.Make(ctx, access)
		if err == nil && one.Name == controllers.NodeLifecycle.Name {
			err = stopMonitoring(made)
		}
		if err != nil {
			c.stop()
			return nil, fmt.Errorf("controller %s: %w", one.Name, err)
		}
		c.queues = append(c.queues, takeQueues(one.Name, made, e.clock)...)
		switch made := made.(type) {
		case interface{ Run(context.Context) }:
			go made.Run(ctx)
		case interface{ Run(context.Context, int) }:
			go made.Run(ctx, 1)
		}
	}
	start()
	return c, nil
}

// stop ends the controllers.
func (c *controlled) stop() {
	c.cancel()
	for _, q := range c.queues {
		q.ShutDown()
	}
}

// mostSyncs of one key without a step of the clock are a loop that does not end.
const mostSyncs = 1000

// drain has the controllers work until none of them has a key left, and says whether any had one.
func (c *controlled) drain(ctx context.Context) (worked bool, err error) {
	for again := true; again; {
		again = false
		for _, q := range c.queues {
			for key, ok := q.next(); ok; key, ok = q.next() {
				if ctx.Err() != nil {
					return worked, context.Cause(ctx)
				}
				if q.synced[key] > mostSyncs {
					return worked, fmt.Errorf("controllers do not become idle: %s works on %s again and again", q.name, key)
				}
				c.engine.Hold(func() { q.sync(key) })
				again, worked = true, true
			}
		}
		if err := c.engine.Err(); err != nil {
			return worked, err
		}
	}
	return worked, nil
}

// step goes on to the time when a controller has something to do, if that is not after until.
func (c *controlled) step(until time.Time) bool {
	var first time.Time
	for _, q := range c.queues {
		at := q.due()
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() || first.After(until) {
		return false
	}
	now := c.engine.clock.FakeClock.Now()
	if first.After(now) {
		c.engine.clock.Step(first.Sub(now))
	}
	for _, q := range c.queues {
		q.release(first)
	}
	return true
}

// settle runs controllers and scheduler by turns, until none of them has anything to do before a horizon.
func (c *controlled) settle(ctx context.Context, horizon time.Duration) error {
	until := c.engine.clock.Now().Add(horizon)
	for {
		if _, err := c.drain(ctx); err != nil {
			return err
		}
		if err := c.engine.Run(ctx); err != nil {
			return err
		}
		worked, err := c.drain(ctx)
		if err != nil {
			return err
		}
		if !worked && !c.step(until) {
			return nil
		}
	}
}
