// Package lucky is the algorithm that rolls dice: a node passes with a certain
// probability and gets a random score. It shows an extender at work, and finds
// out what a cluster does with a scheduler that has no opinion; it is no good
// source of randomness for anything else.
package lucky

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

func init() {
	algorithm.Register("lucky", defaults, func(config Config, _ algorithm.Env) (algorithm.Algorithm, error) {
		return newLucky(config, time.Now), nil
	})
}

// Config says how lucky nodes are.
type Config struct {
	// Pass is the probability with which a node passes the filter, 0 to 1.
	Pass float64 `json:"pass"`
	// Seed makes the answers repeatable: the same requests in the same order
	// get the same answers. 0 takes a new seed at every start.
	Seed uint64 `json:"seed"`
	// Stable gives the same pod and node the same answer throughout one
	// scheduling cycle, whatever the verb, order and number of requests.
	Stable bool `json:"stable"`
	// CycleGap ends a pod's cycle: after so long without a request for the
	// pod, the dice are rolled anew. kube-scheduler waits a second or more
	// before it tries a pod again, and milliseconds within a cycle.
	CycleGap metav1.Duration `json:"cycleGap"`
}

func defaults() Config {
	return Config{Pass: 0.5, CycleGap: metav1.Duration{Duration: 500 * time.Millisecond}}
}

// Validate checks the ranges.
func (c Config) Validate() error {
	if !(c.Pass >= 0 && c.Pass <= 1) {
		return errors.New("pass: must be from 0 to 1")
	}
	if c.Stable && c.CycleGap.Duration <= 0 {
		return errors.New("cycleGap: must be more than 0")
	}
	return nil
}

type lucky struct {
	pass   float64
	cycles *cycles
}

func newLucky(config Config, now func() time.Time) *lucky {
	seed := config.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	l := &lucky{pass: config.Pass, cycles: &cycles{seed: seed, now: now}}
	if config.Stable {
		l.cycles.gap = config.CycleGap.Duration
	}
	return l
}

// One reason for all, so that the scheduler can add them up.
var unlucky = &algorithm.Failure{Reason: "node(s) were out of luck"}

func (l *lucky) Filter(_ context.Context, args *algorithm.Args) ([]*algorithm.Failure, error) {
	dice := l.cycles.dice(&args.Pod, "filter")
	failures := make([]*algorithm.Failure, len(args.Names))
	for i, name := range args.Names {
		if dice.fraction(name) >= l.pass {
			failures[i] = unlucky
		}
	}
	return failures, nil
}

func (l *lucky) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	dice := l.cycles.dice(&args.Pod, "prioritize")
	scores := make([]int64, len(args.Names))
	for i, name := range args.Names {
		scores[i] = algorithm.MinScore + int64(dice.fraction(name)*float64(algorithm.MaxScore-algorithm.MinScore+1))
	}
	return scores, nil
}
