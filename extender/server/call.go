package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/body"
	"wasmkwokwizardry.io/regex-scheduling/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/extender/metrics"
	"wasmkwokwizardry.io/regex-scheduling/extender/wire"
)

// The verbs: what kube-scheduler asks an extender to do. An answer to filter has
// room for an error, which the scheduler shows with the pod; one to prioritize
// has not: the scheduler logs a status and does without the scores.
const (
	filter     = "filter"
	prioritize = "prioritize"
)

// call is one request of the scheduler on its way through the server.
type call struct {
	*Server
	verb  string
	chain algorithm.Chain
	began time.Time

	request *wire.Request // nil until it was read
	answer  *wire.Answer  // nil if there is none
	outcome string
}

func (s *Server) verbHandler(verb string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{Server: s, verb: verb, began: time.Now()}
		if c.chain = c.Filter; verb == prioritize {
			c.chain = c.Prioritize
		}
		s.inFlight.Add(1)
		defer s.inFlight.Add(-1)
		if refused := c.admit(r); refused != nil {
			c.refuse(w, refused)
			return
		}
		client := http.NewResponseController(w)
		b, err := s.bodies.Read(r.Body, r.ContentLength, func() { _ = client.SetReadDeadline(past) })
		if err != nil {
			c.refuse(w, refusalOfBody(err))
			return
		}
		defer b.Release()
		if refused := c.ask(r.Context(), b); refused != nil {
			c.refuse(w, refused)
			return
		}
		b.AwaitClient(func() { _ = client.SetWriteDeadline(past) })
		c.write(w)
	})
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// admit refuses a request of which nothing needs to be read.
func (c *call) admit(r *http.Request) *refusal {
	if c.lacksCertificate(r) {
		return errNoCertificate
	}
	if r.Header.Get("Content-Encoding") != "" {
		return &refusal{http.StatusUnsupportedMediaType, outcomeBad, "Content-Encoding: send the request as it is"}
	}
	return nil
}

// ask reads the request out of its body and has it answered, one of so many
// that have arrived: who is slow to send, or to take the answer, is not among
// them.
func (c *call) ask(ctx context.Context, b *body.Body) *refusal {
	n := c.answering.Add(1)
	defer c.answering.Add(-1)
	if n > int64(c.Config.Limits.Requests) {
		return &refusal{http.StatusTooManyRequests, outcomeBusy, fmt.Sprintf("%d requests are being answered, which is limits.requests: try again later", n-1)}
	}
	if err := c.read(b); err != nil {
		return refusalOfRequest(err)
	}
	if c.request.Form == wire.Neither && c.verb == prioritize {
		c.answer, c.outcome = c.request.Priorities(nil), outcomeError
		return nil
	}
	if message := misfit(c.Config.Mode, c.request.Form); message != "" {
		return c.turnDown(http.StatusBadRequest, outcomeBad, message)
	}
	return c.run(ctx)
}

// read reads the request. That takes a processor and makes garbage, so more at
// a time than there are processors would only take more memory.
func (c *call) read(b *body.Body) (err error) {
	turns := c.turns.of(len(b.Bytes()))
	turns <- struct{}{}
	defer func() { <-turns }()
	c.request, err = wire.Read(b.Bytes(), b.Take)
	return err
}

// misfit says why a form of request is not for a mode, if so.
func misfit(mode config.Mode, form wire.Form) string {
	switch {
	case form == wire.Neither:
		return "the request has neither Nodes nor NodeNames: there is nothing to filter"
	case form == wire.Both:
		return "the request has both Nodes and NodeNames: send one of them"
	case mode == config.FullNodes && form != wire.Full:
		return "this extender answers requests with full nodes (mode full-nodes), and this one has node names: set nodeCacheCapable: false in the scheduler's configuration"
	case mode == config.Names && form != wire.Names:
		return "this extender answers requests with node names (mode names), and this one has full nodes: set nodeCacheCapable: true in the scheduler's configuration"
	}
	return ""
}

// turnDown refuses a well-formed request in the answer, where the verb has room
// for that, or with a status.
func (c *call) turnDown(status int, outcome, message string) *refusal {
	if c.verb != filter {
		return &refusal{status, outcome, message}
	}
	c.answer, c.outcome = wire.Refusal(message), outcomeError
	return nil
}

// run asks the algorithms. Their panics end here.
func (c *call) run(ctx context.Context) (refused *refusal) {
	defer func() {
		if p := recover(); p != nil {
			c.metrics.Panic(c.chain.String())
			c.Logger.Error(fmt.Errorf("panic: %v", p), "An algorithm panicked", "verb", c.verb, "algorithm", c.chain.String(),
				"pod", c.request.Pod.String(), "stack", string(debug.Stack()))
			refused = &refusal{
				http.StatusInternalServerError, outcomePanic,
				"algorithm " + c.chain.String() + " panicked; the extender's log has the details",
			}
		}
	}()
	if err := c.decide(ctx); err != nil {
		c.Logger.V(2).Info("An algorithm refuses", "verb", c.verb, "algorithm", c.chain.String(), "err", err)
		return c.turnDown(http.StatusInternalServerError, outcomeInternal, err.Error())
	}
	c.outcome = outcomeOK
	return nil
}

func (c *call) decide(ctx context.Context) error {
	if c.verb == filter {
		failures, err := c.chain.Filter(ctx, &c.request.Args)
		if err == nil {
			c.answer = c.request.Filtered(failures)
			c.logFailures(failures)
		}
		return err
	}
	scores, err := c.chain.Prioritize(ctx, &c.request.Args)
	if err == nil {
		c.answer = c.request.Priorities(scores)
		c.logScores(scores)
	}
	return err
}

// logFailures logs a line for each node, if somebody wants to see that.
func (c *call) logFailures(failures []*algorithm.Failure) {
	log := c.nodeLogger.V(4)
	if !log.Enabled() {
		return
	}
	for i, name := range c.request.Names {
		reason := ""
		if failures != nil && failures[i] != nil {
			reason = failures[i].Reason
		}
		log.Info("Filtered", "pod", c.request.Pod.String(), "node", name, "passes", reason == "", "reason", reason)
	}
}

// logScores does so for scores.
func (c *call) logScores(scores []int64) {
	log := c.nodeLogger.V(4)
	if !log.Enabled() {
		return
	}
	for i, name := range c.request.Names {
		log.Info("Scored", "pod", c.request.Pod.String(), "node", name, "score", scores[i])
	}
}

func (c *call) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if err := c.answer.Send(w); err != nil {
		c.outcome = outcomeLost
		c.Logger.Info("The answer could not be sent", "verb", c.verb, "err", err)
	}
	c.count()
}

func (c *call) refuse(w http.ResponseWriter, refused *refusal) {
	c.outcome = refused.outcome
	c.Logger.Info("Refused", "verb", c.verb, "status", refused.status, "reason", refused.message)
	writeRefusal(w, refused)
	c.count()
}

func (c *call) count() {
	done := metrics.Request{Verb: c.verb, Algorithm: c.chain.String(), Outcome: c.outcome, Took: time.Since(c.began)}
	if c.request != nil {
		done.NodesIn = len(c.request.Names)
	}
	if c.answer != nil {
		done.NodesOut = c.answer.Passed
	}
	c.metrics.Count(done)
	if log := c.Logger.V(4); log.Enabled() && c.request != nil {
		log.Info("Answered", "verb", c.verb, "pod", c.request.Pod.String(), "outcome", done.Outcome,
			"nodesIn", done.NodesIn, "nodesOut", done.NodesOut, "took", done.Took)
	}
}
