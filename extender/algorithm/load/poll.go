package load

import (
	"context"
	"fmt"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// Run queries Prometheus now and at every interval until ctx is done.
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

// poll replaces the values. If the query fails, the old ones stay. It logs changes
// between failure and success, not each failure.
func (l *load) poll(ctx context.Context) {
	at := l.now()
	values, err := l.config.query(ctx, l.client)
	if ctx.Err() != nil {
		return
	}
	l.logger.V(4).Info("Queried Prometheus", "nodes", len(values), "took", l.now().Sub(at), "err", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.problem
	l.problem = err
	if err != nil {
		l.failures++
		if before == nil {
			l.logger.Error(err, "No values from Prometheus; the last ones count until they are stale", "staleAfter", l.config.StaleAfter.Duration)
		}
		return
	}
	if before != nil {
		l.logger.Info("Prometheus gives values again", "nodes", len(values))
	}
	l.values, l.at = values, at
}

// Health reports whether the values are new enough and of the requested nodes.
func (l *load) Health() algorithm.Health {
	l.mu.Lock()
	defer l.mu.Unlock()
	health := algorithm.Health{Gauges: map[string]float64{
		"query_failures": float64(l.failures), "unmatched_requests": float64(l.misses),
	}}
	because := ""
	if l.problem != nil {
		because = fmt.Sprintf(": %v", l.problem)
	}
	if l.values == nil {
		health.Detail = "no data yet, every node gets the neutral score" + because
		return health
	}
	age := l.now().Sub(l.at)
	health.Gauges["data_age_seconds"] = age.Seconds()
	health.Gauges["nodes"] = float64(len(l.values))
	if l.isStale() {
		health.Detail = fmt.Sprintf("data is stale (%s old), every node gets the neutral score%s", age.Round(time.Second), because)
		return health
	}
	health.OK = l.problem == nil && l.unmatched == ""
	health.Detail = fmt.Sprintf("%d nodes, %s old", len(l.values), age.Round(time.Second))
	if l.unmatched != "" {
		health.Detail += "; " + l.mismatch()
	}
	if l.problem != nil {
		health.Detail += fmt.Sprintf("; there are no newer ones, and these count until they are %s old%s", l.config.StaleAfter.Duration, because)
	}
	return health
}
