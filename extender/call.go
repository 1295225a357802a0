package extender

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/internal/wire"
)

// The verbs of an extender. An answer to filter can have an error, which the scheduler
// reports with the pod. For prioritize the scheduler logs the status, and goes on without
// the scores. For preempt it reports the status with the pod, and preempts nothing.
const (
	filter     = "filter"
	prioritize = "prioritize"
	preempt    = "preempt"
)

// call is one request of the scheduler.
type call struct {
	*Extender
	verb  string
	name  string // of the algorithm
	began time.Time

	request *wire.Request // nil until it is decoded
	answer  *wire.Answer  // nil without one
	outcome string
}

func (e *Extender) verbHandler(verb, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{Extender: e, verb: verb, name: name, began: time.Now()}
		e.inFlight.Add(1)
		defer e.inFlight.Add(-1)
		refused := c.handle(w, r)
		if refused != nil {
			c.outcome = refused.outcome
			log := &e.failedLog
			if refused.isClients() {
				log = &e.invalidLog
			}
			log.Do(func() { // the metrics count all
				e.Logger.Info("Rejected", "verb", verb, "status", refused.status, "reason", refused.message)
			})
			writeRefusal(w, refused)
		}
		c.count()
	})
}

// handle answers the request, or returns why it does not.
func (c *call) handle(w http.ResponseWriter, r *http.Request) *refusal {
	if c.lacksCertificate(r) {
		return errNoCertificate
	}
	taken := &share{memory: c.memory}
	defer taken.release()
	body, err := taken.read(r.Body, r.ContentLength)
	if err != nil {
		return refusalOf(err, outcomeLost, "the request ended too early: ")
	}
	c.request, err = wire.Read(body, taken.take)
	if err != nil {
		return refusalOf(err, outcomeBad, "")
	}
	isPreempt := c.request.Form == wire.Victims
	if c.request.Form == wire.Neither || isPreempt != (c.verb == preempt) {
		return &refusal{http.StatusBadRequest, outcomeBad, "the request has no candidates: filter and prioritize need Nodes or NodeNames, preempt NodeNameToVictims or NodeNameToMetaVictims"}
	}
	refused := c.ask(r.Context())
	if refused != nil {
		return refused
	}
	w.Header().Set("Content-Type", "application/json")
	if err := c.answer.Send(w); err != nil {
		c.outcome = outcomeLost
		c.failedLog.Do(func() { c.Logger.Info("The answer could not be sent", "verb", c.verb, "err", err) })
	}
	return nil
}

// ask asks the algorithm, and recovers from its panics.
func (c *call) ask(ctx context.Context) (refused *refusal) {
	defer func() {
		p := recover()
		if p != nil {
			c.countPanic(c.name, p, "An algorithm panicked", "verb", c.verb, "pod", c.request.Pod.String())
			refused = &refusal{
				http.StatusInternalServerError, outcomePanic,
				"algorithm " + c.name + " panicked; the extender's log has the details",
			}
		}
	}()
	err := c.decide(ctx)
	if err == nil {
		c.outcome = outcomeOK
		return nil
	}
	c.Logger.V(2).Info("An algorithm failed", "verb", c.verb, "algorithm", c.name, "err", err)
	if c.verb != filter {
		return &refusal{http.StatusInternalServerError, outcomeInternal, err.Error()}
	}
	c.answer, c.outcome = wire.Refusal(err.Error()), outcomeError
	return nil
}

func (c *call) decide(ctx context.Context) error {
	asked := c.algorithms[c.name]
	nodes := len(c.request.Names)
	if c.verb != prioritize {
		failures, err := asked.Filter(ctx, &c.request.Args)
		if err == nil && failures != nil && len(failures) != nodes {
			err = fmt.Errorf("contract violation: algorithm %s answered for %d of %d nodes", c.name, len(failures), nodes)
		}
		if err != nil {
			return err
		}
		if c.verb == preempt {
			c.answer = c.request.Preempted(failures)
		} else {
			c.answer = c.request.Filtered(failures)
		}
		return nil
	}
	scores, err := asked.Prioritize(ctx, &c.request.Args)
	isWrong := func(score int64) bool { return score < algorithm.MinScore || score > algorithm.MaxScore }
	if err == nil && (len(scores) != nodes || slices.ContainsFunc(scores, isWrong)) {
		err = fmt.Errorf("contract violation: algorithm %s must give each of %d nodes a score from %d to %d",
			c.name, nodes, algorithm.MinScore, algorithm.MaxScore)
	}
	if err != nil {
		return err
	}
	c.answer = c.request.Priorities(scores)
	return nil
}

func (c *call) count() {
	labels := []string{c.verb, c.name, c.outcome}
	took := time.Since(c.began)
	nodesIn, nodesOut := 0, 0
	if c.request != nil {
		nodesIn = len(c.request.Names)
	}
	if c.answer != nil {
		nodesOut = c.answer.Passed
	}
	c.metrics.requests.WithLabelValues(labels...).Inc()
	c.metrics.nodesIn.WithLabelValues(labels...).Add(float64(nodesIn))
	c.metrics.nodesOut.WithLabelValues(labels...).Add(float64(nodesOut))
	c.metrics.durations.WithLabelValues(labels...).Observe(took.Seconds())
	log := c.Logger.V(4)
	if log.Enabled() && c.request != nil {
		log.Info("Answered", "verb", c.verb, "pod", c.request.Pod.String(), "outcome", c.outcome,
			"nodesIn", nodesIn, "nodesOut", nodesOut, "took", took)
	}
}
