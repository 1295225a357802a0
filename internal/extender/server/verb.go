package server

import (
	"context"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/wire"
)

// A verb is something that kube-scheduler asks an extender to do.
type verb struct {
	name  string
	chain func(*Setup) algorithm.Chain
	// run asks the algorithms.
	run func(context.Context, algorithm.Chain, *wire.Request) (*wire.Answer, error)
	// none answers a request that has no list of nodes at all.
	none func() *wire.Answer
	// refuse turns a well-formed request down. Without a word for that in the
	// verb's answer it returns nil, and the request gets an HTTP status.
	refuse func(message string) *wire.Answer
}

// filter has room for an error in its answer, which the scheduler shows with
// the pod.
var filter = verb{
	name:  "filter",
	chain: func(s *Setup) algorithm.Chain { return s.Filter },
	run: func(ctx context.Context, chain algorithm.Chain, r *wire.Request) (*wire.Answer, error) {
		failures, err := chain.Filter(ctx, &r.Args)
		if err != nil {
			return nil, err
		}
		return r.Filtered(failures), nil
	},
	none: func() *wire.Answer {
		return wire.Refusal("the request has neither Nodes nor NodeNames: there is nothing to filter")
	},
	refuse: wire.Refusal,
}

// prioritize has not: the scheduler logs a status and does without the scores.
var prioritize = verb{
	name:  "prioritize",
	chain: func(s *Setup) algorithm.Chain { return s.Prioritize },
	run: func(ctx context.Context, chain algorithm.Chain, r *wire.Request) (*wire.Answer, error) {
		scores, err := chain.Prioritize(ctx, &r.Args)
		if err != nil {
			return nil, err
		}
		return r.Priorities(scores), nil
	},
	none:   func() *wire.Answer { return new(wire.Request).Priorities(nil) },
	refuse: func(string) *wire.Answer { return nil },
}

// turnDown refuses a well-formed request in the verb's own way, or with status.
func (v *verb) turnDown(status int, outcome, message string) (*wire.Answer, *refusal) {
	if answer := v.refuse(message); answer != nil {
		return answer, nil
	}
	return nil, &refusal{status, outcome, message}
}

// misfit says why a request that has nodes is not for this setup, if so.
func misfit(setup *Setup, form wire.Form) string {
	if form == wire.Both {
		return "the request has both Nodes and NodeNames: send one of them"
	}
	return setup.Misfit(form)
}
