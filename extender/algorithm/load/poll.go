package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// Run asks Prometheus now and at every interval until ctx is done.
func (l *load) Run(ctx context.Context) {
	defer l.client.CloseIdleConnections()
	tick := time.NewTicker(l.config.Interval.Duration)
	defer tick.Stop()
	for {
		l.poll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// poll takes a new snapshot. It logs when things turn bad or good, not every
// time that they stay so.
func (l *load) poll(ctx context.Context) {
	at := l.now()
	values, err := l.config.query(ctx, l.client)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		l.failed(err)
		return
	}
	if asked := l.asked.Load(); asked != nil && asked.known {
		if _, ok := values[asked.name]; !ok { // requests have to show anew whose names these are
			l.asked.Store(nil)
		}
	}
	l.latest.Store(&snapshot{at: at, values: values})
	if before := l.problem.Swap(nil); before != nil {
		l.logger.Info("Prometheus gives values again", "nodes", len(values))
	}
	l.logger.V(4).Info("Query answered", "nodes", len(values), "took", l.now().Sub(at))
}

// failed keeps what there is.
func (l *load) failed(err error) {
	l.failures.Add(1)
	if before := l.problem.Swap(&err); before == nil || errors.Is(*before, errEmpty) != errors.Is(err, errEmpty) {
		l.logger.Error(err, "No values from Prometheus; the last ones count until they are stale", "staleAfter", l.config.StaleAfter.Duration)
	}
	l.logger.V(4).Info("Query failed", "err", err)
}

// Health reports whether scores come from data that is as new as it should be,
// and of the nodes that are asked for.
func (l *load) Health() algorithm.Health {
	health := algorithm.Health{Gauges: map[string]float64{
		"query_failures": float64(l.failures.Load()), "unmatched_requests": float64(l.misses.Load()),
	}}
	because, failing := "", l.problem.Load()
	if failing != nil {
		because = fmt.Sprintf(": %v", *failing)
	}
	latest := l.latest.Load()
	if latest == nil {
		health.Detail = "no data yet, every node gets the neutral score" + because
		return health
	}
	age := l.now().Sub(latest.at)
	health.Gauges["data_age_seconds"] = age.Seconds()
	health.Gauges["nodes"] = float64(len(latest.values))
	if l.fresh() == nil {
		health.Detail = fmt.Sprintf("data is stale (%s old), every node gets the neutral score%s", age.Round(time.Second), because)
		return health
	}
	health.Detail = fmt.Sprintf("%d nodes, %s old", len(latest.values), age.Round(time.Second))
	asked := l.asked.Load()
	mismatch := asked != nil && !asked.known
	health.OK = failing == nil && !mismatch
	if mismatch {
		health.Detail += "; " + l.mismatch(latest, asked.name)
	}
	if failing != nil {
		health.Detail += fmt.Sprintf("; there are no newer ones, and these count until they are %s old%s", l.config.StaleAfter.Duration, because)
	}
	return health
}
