// Package load is the algorithm that scores nodes by what Prometheus knows of
// them: how busy their CPUs are, or the result of any other PromQL query.
//
// It asks Prometheus in the background and never during a request. While it
// has no data, or only old data, it has no opinion: every node passes and gets
// the neutral score. /readyz, the metrics and the log say so, and also if its
// data is of other names than those that the requests have. It measures nothing
// itself. It is no API.
package load

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

var _ algorithm.Worker = (*load)(nil)

type load struct {
	config   Config
	client   *http.Client
	logger   logr.Logger
	now      func() time.Time
	tooMuch  *algorithm.Failure
	latest   atomic.Pointer[snapshot]
	failures atomic.Int64
	problem  atomic.Pointer[error] // of the last query, nil if it went well

	// asked is what requests have shown of whether the values are of nodes at all: a query
	// by instance gives addresses unless Prometheus relabels them. A node with a value
	// settles it for as long as it has one, so that a pod that only nodes without a value
	// suit changes nothing.
	asked  atomic.Pointer[asked]
	misses atomic.Int64 // requests without a node that has a value, while none is known
}

// asked is a node that a request asked for, with a value or, as all of its nodes, without.
type asked struct {
	name  string
	known bool
}

// snapshot is what one query found. It does not change.
type snapshot struct {
	at     time.Time
	values map[string]float64 // by node name
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

// fresh returns the latest snapshot unless it is missing or too old.
func (l *load) fresh() *snapshot {
	s := l.latest.Load()
	if s == nil || l.now().Sub(s.at) > l.config.StaleAfter.Duration {
		return nil
	}
	return s
}

// Filter fails the nodes that are beyond the threshold. Evicting pods may bring
// them back, so they are not unresolvable.
func (l *load) Filter(_ context.Context, args *algorithm.Args) ([]*algorithm.Failure, error) {
	s := l.fresh()
	if s == nil || l.tooMuch == nil {
		return nil, nil
	}
	failures := make([]*algorithm.Failure, len(args.Names))
	l.look(s, args.Names, func(i int, value float64) {
		if l.config.worse(value, *l.config.Threshold) {
			failures[i] = l.tooMuch
		}
	})
	return failures, nil
}

// Prioritize scores each node by its value, and those without by config.
func (l *load) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	s := l.fresh()
	if s == nil {
		return algorithm.Equal(algorithm.Neutral, len(args.Names)), nil
	}
	scores := algorithm.Equal(l.config.Missing, len(args.Names))
	l.look(s, args.Names, func(i int, value float64) { scores[i] = l.config.score(value) })
	return scores, nil
}

// look calls each for the index of every name that has a value, and notes whether
// one has.
func (l *load) look(s *snapshot, names []string, each func(i int, value float64)) {
	known := -1
	for i, name := range names {
		if value, ok := s.values[name]; ok {
			known = i
			each(i, value)
		}
	}
	before := l.asked.Load()
	if len(names) == 0 || before != nil && before.known {
		return
	}
	now := &asked{strings.Clone(names[max(known, 0)]), known >= 0} // a clone, or it would keep its whole request
	if now.known {
		if l.asked.CompareAndSwap(before, now) && before != nil {
			l.logger.Info("Values and requests have names in common again", "node", now.name)
		}
		return
	}
	l.misses.Add(1)
	if before == nil && l.asked.CompareAndSwap(nil, now) {
		l.logger.Info("Warning: "+l.mismatch(s, now.name), "scoreOfAll", l.config.Missing)
	}
}

func (l *load) mismatch(s *snapshot, asked string) string {
	return fmt.Sprintf("the values are for names like %q, and none is for a node that is asked for, like %q: set nodeLabel to a label with the node's name, or have Prometheus relabel %s to it",
		slices.Min(slices.Collect(maps.Keys(s.values))), asked, l.config.NodeLabel)
}
