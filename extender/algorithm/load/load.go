// Package load is the algorithm that scores nodes by what Prometheus knows of
// them: how busy their CPUs are, or the result of any other PromQL query.
//
// It queries Prometheus in the background and never during a request. Without
// data, or with old data only, every node passes and gets the neutral score.
// /readyz, the metrics and the log report that, and also if the data has other
// names than the nodes in the requests. It measures nothing itself.
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

	// Requests show whether the values are of nodes at all: a query by instance
	// returns addresses unless Prometheus relabels them. One node with a value is
	// enough, as long as it has one: a pod that fits only nodes without a value
	// shows nothing.
	matched   string // a requested node that has a value
	unmatched string // a requested node without a value, until one matches
	misses    int    // requests in which no node had a value, until one matches
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
	found := -1
	for i, name := range names {
		if value, ok := values[name]; ok {
			found = i
			each(i, value)
		}
	}
	if len(names) > 0 {
		l.note(values, names[max(found, 0)], found >= 0)
	}
}

// note notes that a requested node has a value, or that it has none, and no other one of
// its request has.
func (l *load) note(values map[string]float64, name string, hasValue bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.matched != "" || name == "":
	case hasValue:
		if l.unmatched != "" {
			l.logger.Info("Values and requests have names in common again", "node", name)
		}
		l.matched, l.unmatched = strings.Clone(name), "" // a clone, or it would keep the whole request
	default:
		l.misses++
		if l.unmatched == "" {
			l.unmatched = strings.Clone(name)
			l.logger.Info("Warning: "+l.mismatch(values), "scoreOfAll", l.config.Missing)
		}
	}
}

func (l *load) mismatch(values map[string]float64) string {
	return fmt.Sprintf("the values are for names like %q, and none is for a requested node, like %q: set nodeLabel to a label with the node's name, or have Prometheus relabel %s to it",
		slices.Min(slices.Collect(maps.Keys(values))), l.unmatched, l.config.NodeLabel)
}
