// Package cycle measures what a door costs in a scheduling cycle: one pod, all
// nodes of a cluster, through the real host plugin where the door is a guest.
//
// The time is that of the processors, of all threads of this process: a machine
// that is busy with something else makes it hardly longer. Doors take turns in
// batches, so that what still does falls on all of them. Between batches the garbage of the others is collected; what a door's
// own garbage costs while its batch runs is its own cost.
package cycle

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// Plan says what is measured, and for how long.
type Plan struct {
	Nodes  []int
	Rounds int           // batches of each door in each case
	Batch  time.Duration // about how long a batch takes, at least one cycle
	// Limit is how much time a door may take in all batches of a case. One that
	// is too slow gets fewer rounds, one at least.
	// It must be some times Batch.
	Limit time.Duration
	// Skip, if a cycle takes longer, leaves a door out of the other cases with
	// that many nodes. Zero leaves none out.
	Skip time.Duration
	// Say tells what is being measured, and which share of all is done.
	Say func(what string, done float64)
}

// Part is what of a scheduling cycle is measured.
type Part string

// The parts.
const (
	Whole     Part = "Cycle"     // PreFilter, then Filter on one goroutine
	PreFilter Part = "PreFilter" // and nothing else
	Shared    Part = "Shared"    // PreFilter, then Filter on a goroutine for each processor
)

// Result is what one door came to in one case with one number of nodes.
type Result struct {
	Door, Case string
	Nodes      int
	Part       Part
	Filtered   int           // nodes asked about one by one, in a cycle
	Time       sample.Sample // ns of processors per cycle, one for each batch
	Wall       sample.Sample // ns by the clock per cycle
	Cycles     []int         // in each batch
	Bytes      float64       // allocated on the host, per cycle
	Allocs     float64       // allocations on the host, per cycle
	Memory     int           // of an instance of the guest, in bytes, afterwards; 0: no guest
	Wrong      string        // what the door got wrong, if it did
}

// pods is how many pods take turns in a case: no door may count on seeing the
// same pod twice in a row.
const pods = 16

// Run measures every door in every case with every number of nodes. With an
// error it returns the cases that are done.
func Run(ctx context.Context, plan Plan, doors []door.Door) (results []Result, err error) {
	var entrants []*entrant
	sweeper := &sweeper{}
	defer func() { err = errors.Join(err, closeAll(entrants)) }()
	for _, n := range plan.Nodes {
		opened, err := open(ctx, doors, work.NewCluster(n), sweeper)
		entrants = append(entrants, opened...)
		if err != nil {
			return nil, err
		}
	}
	cases := work.Cases()
	for i, c := range cases {
		say := func(done float64) { plan.Say("cycles, "+c.Name, (float64(i)+done)/float64(len(cases))) }
		r, err := runCase(ctx, plan, entrants, c, partsOf(c, i == 0), say)
		if err != nil {
			return results, fmt.Errorf("case %s: %w", c.Name, err)
		}
		results = append(results, r...)
	}
	return results, nil
}

func turnsOf(plan Plan, entrants []*entrant, c work.Case, parts []Part, pods []*v1.Pod) (turns []*turn, err error) {
	for _, e := range entrants {
		for _, part := range parts {
			t, err := newTurn(plan, e, c, part, pods)
			if err != nil {
				return nil, fmt.Errorf("door %s: %w", e.door.Name, err)
			}
			if t != nil {
				turns = append(turns, t)
			}
		}
	}
	return turns, nil
}

// partsOf are the parts that mean anything in a case.
func partsOf(c work.Case, first bool) []Part {
	parts := []Part{Whole}
	if first || !c.Filtered { // with a pattern from the cache, one PreFilter is like the other
		parts = append(parts, PreFilter)
	}
	if c.Filtered && runtime.GOMAXPROCS(0) > 1 {
		parts = append(parts, Shared)
	}
	return parts
}

// runCase lets the doors take turns with each part.
func runCase(ctx context.Context, plan Plan, entrants []*entrant, c work.Case, parts []Part, say func(float64)) ([]Result, error) {
	ps := make([]*v1.Pod, pods)
	for i := range ps {
		ps[i] = work.NewPod(i, c)
	}
	turns, err := turnsOf(plan, entrants, c, parts, ps)
	if err != nil {
		return nil, err
	}
	for round := range plan.Rounds {
		say(float64(round) / float64(plan.Rounds))
		for _, t := range turns {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if round >= t.rounds {
				continue
			}
			if err := t.batch(); err != nil {
				return nil, fmt.Errorf("door %s: %w", t.result.Door, err)
			}
		}
	}
	results := make([]Result, 0, len(turns))
	for _, t := range turns {
		results = append(results, t.done())
	}
	runtime.KeepAlive(ps)
	return results, nil
}
