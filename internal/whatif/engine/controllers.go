package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/internal/controllers"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// Workloads are Kubernetes' controllers that create pods, but for that of CronJobs: what these start while the clock steps
// would never end.
var Workloads = slices.DeleteFunc(slices.Clone(controllers.Workloads), func(c controllers.Controller) bool { return c.Name == "cronjob-controller" })

// Daemons are of these only what creates the pods of DaemonSets.
var Daemons = slices.DeleteFunc(slices.Clone(controllers.Workloads), func(c controllers.Controller) bool { return c.Name != "daemon-set-controller" })

// controlled are Kubernetes' controllers over the engine's cluster. Their workers work off one key at a time.
type controlled struct {
	engine  *Engine
	queues  []*queue // in the order in which they are drained
	budgets []*queue // of them
	cancel  context.CancelFunc

	restless map[string]int // what was written at the end of the horizon, and how often
}

// control starts the controllers.
func (e *Engine) control(ctx context.Context, workloads []controllers.Controller) (*controlled, error) {
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, quiet))
	c := &controlled{engine: e, cancel: cancel}
	access := controllers.Access{Client: e.Cluster.Client, Shared: e.Cluster.Informers, Mapper: e.Cluster.Mapper()}
	var err error
	access.Scales, err = scale.NewForConfig(e.Cluster.Config, access.Mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(e.Cluster.Client.Discovery()))
	if err != nil {
		c.stop()
		return nil, err
	}
	for _, one := range slices.Concat(workloads, []controllers.Controller{controllers.Disruption, controllers.NodeLifecycle}) {
		made, err := one.Make(ctx, access)
		if err == nil && one.Name == controllers.NodeLifecycle.Name {
			err = stopMonitoring(made)
		}
		if err != nil {
			c.stop()
			return nil, fmt.Errorf("controller %s: %w", one.Name, err)
		}
		queues := takeQueues(one.Name, made, e.clock)
		c.queues = append(c.queues, queues...)
		if one.Name == controllers.Disruption.Name {
			c.budgets = queues
		}
		switch made := made.(type) {
		case interface{ Run(context.Context) }:
			go made.Run(ctx)
		case interface{ Run(context.Context, int) }:
			go made.Run(ctx, 1)
		}
	}
	return c, nil
}

// stop ends the controllers.
func (c *controlled) stop() {
	c.cancel()
	for _, q := range c.queues {
		q.ShutDown()
	}
}

// mostSyncs of one key without a step of the clock are a loop that does not end: the key rests until the next run.
const mostSyncs = 1000

// drain has controllers work until none of them has a key left, and says whether any had one.
func (c *controlled) drain(ctx context.Context, queues []*queue) (worked bool, err error) {
	for again := true; again; {
		again = false
		for _, q := range queues {
			for key, ok := q.next(); ok; key, ok = q.next() {
				if ctx.Err() != nil {
					return worked, context.Cause(ctx)
				}
				if q.synced[key] == mostSyncs {
					q.rest(key)
					c.engine.Cluster.Unmodelled(fmt.Sprintf("a loop that does not end (%s works on %s again and again)", q.name, key))
				}
				version := c.engine.Cluster.Version()
				c.engine.Cluster.Hold(func() { q.sync(key) })
				if c.engine.Cluster.Version() != version {
					q.progress(key)
				}
				again, worked = true, true
			}
		}
		if err := c.engine.Cluster.Err(); err != nil {
			return worked, err
		}
	}
	return worked, nil
}

// step goes on to the time when a controller has something to do, or a toleration ends, if that is not after until.
func (c *controlled) step(until time.Time) bool {
	first := c.engine.taints.next
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
	version, last := c.engine.Cluster.Version(), c.engine.clock.FakeClock.Now()
	for _, q := range c.queues {
		q.wake()
	}
	c.restless = map[string]int{}
	defer func() { c.engine.Cluster.Changed = nil }()
	for {
		if err := c.round(ctx); err != nil {
			return err
		}
		worked, err := c.drain(ctx, c.queues)
		if err != nil {
			return err
		}
		if c.engine.Cluster.Version() != version {
			version, last = c.engine.Cluster.Version(), c.engine.clock.FakeClock.Now()
		}
		if c.engine.Cluster.Changed == nil && c.engine.clock.FakeClock.Now().After(until.Add(-horizon/10)) {
			c.engine.Cluster.Changed = c.change
		}
		if !worked && !c.step(until) {
			c.engine.clock.SetTime(last) // after which controllers have only looked
			return nil
		}
	}
}

// change takes note of a pod's workload, and its node: they may never come to rest.
func (c *controlled) change(o cluster.Object) {
	pod, ok := o.(*v1.Pod)
	if !ok || o.GetDeletionTimestamp() != nil {
		return
	}
	c.restless[cmp.Or(c.engine.workload(pod), "Pod "+cluster.NameOf(pod).String())]++
	if pod.Spec.NodeName != "" {
		c.restless["Node "+pod.Spec.NodeName]++
	}
}

// unrest names what rests without having come to an end, and what still changed again and again when the last run was ended.
func (c *controlled) unrest() (all []string) {
	const often = 4 // writes
	maps.DeleteFunc(c.restless, func(_ string, times int) bool { return times < often })
	for _, q := range c.queues {
		q.mu.Lock()
		rested := slices.Sorted(maps.Keys(q.rested))
		q.mu.Unlock()
		if len(rested) > 0 {
			name, _, _ := strings.Cut(q.name, ".")
			all = append(all, fmt.Sprintf("%s at %s, since further looks change nothing", name, report.Few(rested)))
		}
	}
	if len(c.restless) == 0 {
		return all
	}
	return append(all, fmt.Sprintf("after %s, when %s still changed", Horizon, report.Few(slices.Sorted(maps.Keys(c.restless)))))
}

// Work has the controllers work as far as they can without the scheduler.
func (e *Engine) Work(ctx context.Context) error {
	_, err := e.controllers.drain(ctx, e.controllers.queues)
	return err
}

// Try opens a transaction, as [cluster.Cluster.Try] does. After a rollback the controllers find that nothing is to do.
func (e *Engine) Try() (rollback, commit func()) {
	undo, commit := e.Cluster.Try()
	return func() {
		undo()
		_ = e.Work(context.Background()) // whose error the next run has, too
	}, commit
}

// round has the controllers work, and then the scheduler.
func (c *controlled) round(ctx context.Context) error {
	c.engine.evictTainted()
	if _, err := c.drain(ctx, c.queues); err != nil {
		return err
	}
	return c.engine.schedule(ctx)
}
