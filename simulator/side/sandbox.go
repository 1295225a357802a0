package side

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
)

// Sandbox is the cluster of a side, while that is at rest: what one wants to know is
// tried in it, change after change.
type Sandbox struct {
	side  *side
	nodes []v1.Node // as the last result has them
	pods  []v1.Pod
}

// Client reads and changes objects. Changes that are not made in [Sandbox.Try] may be
// seen by the scheduler one by one.
func (b *Sandbox) Client() kubernetes.Interface { return b.side.sim.Client() }

// Importer makes objects with all that the cluster's file was made with: references to
// owners follow these.
func (b *Sandbox) Importer() *simulator.Importer { return b.side.imports }

// Spare has nobody be pushed out any more. What is in vain is then tried again at once.
func (b *Sandbox) Spare() { b.side.scheduler.spares.Store(true) }

// CatchUp waits, in a change, until all pods that budgets are about are ready and counted.
// If nothing was changed yet, pods are not asked for again.
func (b *Sandbox) CatchUp(ctx context.Context, changed bool) error {
	if changed {
		return b.side.caughtUp(ctx)
	}
	return b.side.seen(ctx, b.nodes, b.pods)
}

// Try changes something while the scheduler is paused, waits until it has done what it
// can, and returns what came of all pods so far.
func (b *Sandbox) Try(ctx context.Context, change func(context.Context) error) (result *Result, err error) {
	if err := b.side.settleAfter(ctx, "a change in the copy", change); err != nil {
		return nil, err
	}
	result, b.nodes, b.pods, err = b.side.result(ctx)
	return result, err
}

// Do does a step of a scenario, for [Sandbox.Try].
func (b *Sandbox) Do(ctx context.Context, step Step) error { return b.side.do(ctx, &step) }
