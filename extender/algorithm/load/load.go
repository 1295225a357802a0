// Package load is the algorithm that scores nodes by what Prometheus knows of
// them: how busy their CPUs are, or the result of any other PromQL query.
//
// It asks Prometheus in the background and never during a request. While it
// has no data, or only old data, it has no opinion: every node passes and gets
// the neutral score. /readyz, the metrics and the log say so, and also if its
// data is of other names than those that the requests have. It measures nothing
// itself.
package load

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

func init() {
	algorithm.Register("load", defaults, func(config Config, env algorithm.Env) (algorithm.Algorithm, error) {
		return newLoad(config, env.Logger, time.Now)
	})
}

var _ algorithm.Worker = (*load)(nil)

type load struct {
	config   Config
	client   *client
	logger   logr.Logger
	now      func() time.Time
	tooMuch  *algorithm.Failure
	latest   atomic.Pointer[snapshot]
	failures atomic.Int64
	problem  atomic.Pointer[problem] // of the last query, nil if it went well
	names    names
}

// A problem is why a query brought no values.
type problem struct {
	text  string
	empty bool // the answer was good, but there was nothing in it
}

// snapshot is what one query found. It does not change.
type snapshot struct {
	at     time.Time
	values map[string]float64 // by node name
}

func newLoad(config Config, logger logr.Logger, now func() time.Time) (*load, error) {
	client, err := newClient(config)
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
	failures, known := make([]*algorithm.Failure, len(args.Names)), none
	for i, name := range args.Names {
		value, ok := s.values[name]
		if !ok {
			continue
		}
		known = i
		if l.config.worse(value, *l.config.Threshold) {
			failures[i] = l.tooMuch
		}
	}
	l.compare(s, args.Names, known)
	return failures, nil
}

// Prioritize scores each node by its value, and those without by config.
func (l *load) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	s := l.fresh()
	if s == nil {
		return algorithm.Equal(algorithm.Neutral, len(args.Names)), nil
	}
	scores, known := make([]int64, len(args.Names)), none
	for i, name := range args.Names {
		value, ok := s.values[name]
		if !ok {
			scores[i] = l.config.Missing
			continue
		}
		known = i
		scores[i] = l.config.score(value)
	}
	l.compare(s, args.Names, known)
	return scores, nil
}

// score maps Min to Max to the range of scores, so that the better end gets
// the highest, and clamps what is outside. value is not NaN.
func (c *Config) score(value float64) int64 {
	fraction := (min(max(value, c.Min), c.Max) - c.Min) / (c.Max - c.Min)
	if c.Better == Less {
		fraction = 1 - fraction
	}
	return algorithm.MinScore + int64(math.Round(fraction*float64(algorithm.MaxScore-algorithm.MinScore)))
}

// worse reports whether a is worse than b.
func (c *Config) worse(a, b float64) bool {
	if c.Better == More {
		return a < b
	}
	return a > b
}
