// Package load is the algorithm that scores nodes by what Prometheus knows of
// them: how busy their CPUs are, or the result of any other PromQL query.
//
// It queries Prometheus in the background and never during a request. Without
// data, or with old data only, every node passes and gets the neutral score.
// /readyz and the metrics report that, and also if the data has other names than
// the nodes in the last request. It measures nothing itself.
package load

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

var _ algorithm.Worker = (*load)(nil)

type load struct {
	config  Config
	client  *http.Client
	logger  logr.Logger
	now     func() time.Time
	tooMuch *algorithm.Failure // nil without a threshold

	mu       sync.Mutex
	values   map[string]float64 // by node name; each query makes a new map. Nil before the first
	at       time.Time          // when they were queried
	problem  error              // of the last query
	failures int                // of queries

	// unmatched is a node of the last request, if none of its nodes has a value: a query by
	// instance returns addresses unless Prometheus relabels them.
	unmatched string
	misses    int // requests in which no node had a value
}

func newLoad(config Config, logger logr.Logger, now func() time.Time) (*load, error) {
	client, err := config.newClient()
	if err != nil {
		return nil, err
	}
	l := &load{config: config, client: client, logger: logger, now: now}
	if config.Threshold != nil {
		side := "above"
		if config.Better == More {
			side = "below"
		}
		l.tooMuch = &algorithm.Failure{Reason: fmt.Sprintf("node(s) had a load %s %g", side, *config.Threshold)}
	}
	return l, nil
}

// Run queries Prometheus now and at every interval until ctx is done.
func (l *load) Run(ctx context.Context) {
	defer l.client.CloseIdleConnections()
	wait.NonSlidingUntilWithContext(ctx, l.poll, l.config.Interval.Duration)
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
		known := slices.Min(slices.Collect(maps.Keys(l.values)))
		health.Detail += fmt.Sprintf("; the values are for names like %q, and none is for a requested node, like %q: set nodeLabel to a label with the node's name, or have Prometheus relabel %s to it",
			known, l.unmatched, l.config.NodeLabel)
	}
	if l.problem != nil {
		health.Detail += fmt.Sprintf("; there are no newer ones, and these count until they are %s old%s", l.config.StaleAfter.Duration, because)
	}
	return health
}

// fresh returns the values, or nil if there are none or they are too old.
func (l *load) fresh() map[string]float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isStale() {
		return nil
	}
	return l.values
}

func (l *load) isStale() bool { return l.now().Sub(l.at) > l.config.StaleAfter.Duration }

// Filter fails the nodes that are beyond the threshold. Evicting pods may bring
// them back, so they are not unresolvable.
func (l *load) Filter(_ context.Context, args *algorithm.Args) ([]*algorithm.Failure, error) {
	values := l.fresh()
	if values == nil || l.tooMuch == nil {
		return nil, nil
	}
	failures := make([]*algorithm.Failure, len(args.Names))
	l.lookUp(values, args.Names, func(i int, value float64) {
		if l.config.worse(value, *l.config.Threshold) {
			failures[i] = l.tooMuch
		}
	})
	return failures, nil
}

// Prioritize scores each node by its value, and those without by config.
func (l *load) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	values := l.fresh()
	if values == nil {
		return algorithm.Equal(algorithm.Neutral, len(args.Names)), nil
	}
	scores := algorithm.Equal(l.config.Missing, len(args.Names))
	l.lookUp(values, args.Names, func(i int, value float64) { scores[i] = l.config.score(value) })
	return scores, nil
}

// lookUp calls each for the index of every name that has a value, and notes whether
// one has.
func (l *load) lookUp(values map[string]float64, names []string, each func(i int, value float64)) {
	found := false
	for i, name := range names {
		if value, ok := values[name]; ok {
			found = true
			each(i, value)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unmatched = ""
	if !found && len(names) > 0 {
		l.unmatched = strings.Clone(names[0]) // a clone, or it would keep the whole request
		l.misses++
	}
}
