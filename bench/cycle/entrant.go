package cycle

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// entrant is a door that is open to the nodes of a cluster.
type entrant struct {
	door    door.Door
	cluster *work.Cluster
	session door.Session
	sweeper *sweeper
	cycle   time.Duration // the first one that was timed
}

func open(ctx context.Context, doors []door.Door, cluster *work.Cluster, s *sweeper) (entrants []*entrant, err error) {
	for _, d := range doors {
		session, err := d.Open(ctx, cluster)
		if err != nil {
			return entrants, fmt.Errorf("door %s: %w", d.Name, err)
		}
		entrants = append(entrants, &entrant{door: d, cluster: cluster, session: session, sweeper: s})
	}
	return entrants, nil
}

// hasPart reports whether there is such a part to the door.
func (e *entrant) hasPart(part Part) (has bool) {
	switch part {
	case PreFilter:
		_, has = e.session.(door.PreFilterer)
	case Shared:
		_, has = e.session.(door.Sharer)
	default:
		has = true
	}
	return has
}

func closeAll(entrants []*entrant) error {
	var errs []error
	for _, e := range entrants {
		errs = append(errs, e.session.Close())
	}
	return errors.Join(errs...)
}

// check walks one pod through the door and says what is wrong with the outcome.
// Floors decide nothing.
func (e *entrant) check(c work.Case) (wrong string, err error) {
	if e.door.Role == door.Floor {
		return "", nil
	}
	want, err := c.Want(e.cluster)
	if err != nil {
		return "", err
	}
	got, err := e.session.Cycle(work.NewPod(0, c), nil)
	if err != nil {
		return err.Error(), nil
	}
	if len(got) != want {
		return fmt.Sprintf("%d nodes pass, not %d", len(got), want), nil
	}
	return "", nil
}

// sweeper collects garbage where there is enough of it to fall on somebody.
type sweeper struct{ swept uint64 }

// littered is how many bytes may lie about when a batch begins: much less than
// what makes the collector start by itself.
const littered = 16 << 20

func (s *sweeper) sweep() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.TotalAlloc-s.swept > littered {
		runtime.GC()
		s.swept = m.TotalAlloc
	}
}
