package server

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/body"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/metrics"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/wire"
)

// call is one request of the scheduler on its way through the server.
type call struct {
	*Server
	verb  *verb
	setup *Setup
	began time.Time

	request *wire.Request // nil until it was read
	answer  *wire.Answer  // nil if there is none
	outcome string
}

func (s *Server) verbHandler(v *verb) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{Server: s, verb: v, setup: s.setup.Load(), began: time.Now()}
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
		if refused := c.ask(r, b); refused != nil {
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
	if c.setup.ClientCertificates && !isVerified(r) {
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
func (c *call) ask(r *http.Request, b *body.Body) (refused *refusal) {
	n := c.answering.Add(1)
	defer c.answering.Add(-1)
	if n > c.setup.Requests {
		return &refusal{http.StatusTooManyRequests, outcomeBusy, fmt.Sprintf("%d requests are being answered, which is limits.requests: try again later", n-1)}
	}
	if refused := c.read(b); refused != nil {
		return refused
	}
	if c.request.Form == wire.Neither {
		c.answer, c.outcome = c.verb.none(), outcomeError
		return nil
	}
	if message := misfit(c.setup, c.request.Form); message != "" {
		c.outcome = outcomeError
		c.answer, refused = c.verb.turnDown(http.StatusBadRequest, outcomeBad, message)
		return refused
	}
	return c.run(r)
}

// read reads the request. That takes a processor and makes garbage, so more at
// a time than there are processors would only take more memory.
func (c *call) read(b *body.Body) *refusal {
	c.readers <- struct{}{}
	defer func() { <-c.readers }()
	var err error
	if c.request, err = wire.Read(b.Bytes(), b.Take); err != nil {
		return refusalOfRequest(err)
	}
	return nil
}

// run asks the algorithms. Their panics end here.
func (c *call) run(r *http.Request) (refused *refusal) {
	chain := c.verb.chain(c.setup)
	defer func() {
		if p := recover(); p != nil {
			c.metrics.Panic(chain.String())
			c.logger.Error(fmt.Errorf("panic: %v", p), "An algorithm panicked", "verb", c.verb.name, "algorithm", chain.String(),
				"pod", c.request.Pod.String(), "stack", string(debug.Stack()))
			refused = &refusal{
				http.StatusInternalServerError, outcomePanic,
				"algorithm " + chain.String() + " panicked; the extender's log has the details",
			}
		}
	}()
	var err error
	c.outcome = outcomeOK
	if c.answer, err = c.verb.run(r.Context(), chain, c.request); err != nil {
		c.outcome = outcomeError
		c.logger.V(2).Info("An algorithm refuses", "verb", c.verb.name, "algorithm", chain.String(), "err", err)
		c.answer, refused = c.verb.turnDown(http.StatusInternalServerError, outcomeInternal, err.Error())
	}
	return refused
}

func (c *call) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if err := c.answer.Send(w); err != nil {
		c.outcome = outcomeLost
		c.logger.Info("The answer could not be sent", "verb", c.verb.name, "err", err)
	}
	c.count()
}

func (c *call) refuse(w http.ResponseWriter, refused *refusal) {
	c.outcome = refused.outcome
	c.logger.Info("Refused", "verb", c.verb.name, "status", refused.status, "reason", refused.message)
	writeRefusal(w, refused)
	c.count()
}

func (c *call) count() {
	done := metrics.Request{Verb: c.verb.name, Algorithm: c.verb.chain(c.setup).String(), Outcome: c.outcome, Took: time.Since(c.began)}
	if c.request != nil {
		done.NodesIn = len(c.request.Names)
	}
	if c.answer != nil {
		done.NodesOut = c.answer.Passed
	}
	c.metrics.Count(done)
	if log := c.logger.V(4); log.Enabled() && c.request != nil {
		log.Info("Answered", "verb", done.Verb, "pod", c.request.Pod.String(), "outcome", done.Outcome,
			"nodesIn", done.NodesIn, "nodesOut", done.NodesOut, "took", done.Took)
	}
}
