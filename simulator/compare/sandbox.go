package compare

import (
	"context"

	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
)

// Sandbox is the cluster of a side, while that is at rest: what one wants to know is
// tried in it, change after change.
type Sandbox struct{ side *side }

// Client reads and changes objects. Changes that are not made in [Sandbox.Try] may be
// seen by the scheduler one by one.
func (b *Sandbox) Client() kubernetes.Interface { return b.side.sim.Client() }

// Importer makes objects with all that the cluster's file was made with: references to
// owners follow these.
func (b *Sandbox) Importer() *simulator.Importer { return b.side.imports }

// Spare has nobody be pushed out any more. What is in vain is then tried again at once.
func (b *Sandbox) Spare() { b.side.scheduler.spares.Store(true) }

// CatchUp waits, in a change, until all pods that budgets are about are ready and counted.
func (b *Sandbox) CatchUp(ctx context.Context) error { return b.side.caughtUp(ctx) }

// Try changes something while the scheduler is paused, waits until it has done what it
// can, and returns what came of all pods so far. The title says in errors what was tried.
func (b *Sandbox) Try(ctx context.Context, title string, change func(context.Context) error) (*SideResult, error) {
	if err := b.side.settleAfter(ctx, title, change); err != nil {
		return nil, err
	}
	return b.side.result(ctx)
}

// Do does a step of a scenario, for [Sandbox.Try].
func (b *Sandbox) Do(ctx context.Context, step Step) error { return b.side.do(ctx, &step) }
