package cycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// entrant is a door that is open to the nodes of a cluster.
type entrant struct {
	door    door.Door
	cluster *work.Cluster
	session door.Session
	slowest time.Duration // cycle so far
}

func open(ctx context.Context, doors []door.Door, cluster *work.Cluster) (entrants []*entrant, err error) {
	for _, d := range doors {
		s, err := d.Open(ctx, cluster)
		if err != nil {
			return entrants, fmt.Errorf("door %s: %w", d.Name, err)
		}
		entrants = append(entrants, &entrant{door: d, cluster: cluster, session: s})
	}
	return entrants, nil
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
