package load

import (
	"context"
	"fmt"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

// Run asks Prometheus now and at every interval until ctx is done.
func (l *load) Run(ctx context.Context) {
	defer l.client.http.CloseIdleConnections()
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
	values, err := l.client.query(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		problem := err.Error()
		l.failures.Add(1)
		if before := l.problem.Swap(&problem); before == nil {
			l.logger.Error(err, "Prometheus does not answer; the last values count until they are stale", "staleAfter", l.config.StaleAfter.Duration)
		}
		l.logger.V(4).Info("Query failed", "err", err)
		return
	}
	l.latest.Store(&snapshot{at: at, values: values})
	if before := l.problem.Swap(nil); before != nil {
		l.logger.Info("Prometheus answers again", "nodes", len(values))
	}
	l.logger.V(4).Info("Query answered", "nodes", len(values), "took", l.now().Sub(at))
}

// Health reports whether scores come from data.
func (l *load) Health() algorithm.Health {
	health := algorithm.Health{Gauges: map[string]float64{"query_failures": float64(l.failures.Load())}}
	because := ""
	if problem := l.problem.Load(); problem != nil {
		because = ": " + *problem
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
	health.OK = true
	health.Detail = fmt.Sprintf("%d nodes, %s old%s", len(latest.values), age.Round(time.Second), because)
	return health
}
