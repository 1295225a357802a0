package extender

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

// A refusal is why a request is rejected.
type refusal struct {
	status  int
	outcome string // for the metrics
	message string
}

// isClients reports whether the client made the mistake, which any client can.
func (r *refusal) isClients() bool {
	return r.status < http.StatusInternalServerError && r.outcome != outcomeBusy
}

// The outcomes of requests, as the metrics have them.
const (
	outcomeOK           = "ok"
	outcomeError        = "error"        // the answer is an error of the algorithm
	outcomeBad          = "bad_request"  // not a valid request
	outcomeTooLarge     = "too_large"    // its body, or the memory that it takes
	outcomeBusy         = "busy"         // too many requests, or too large together
	outcomeTimeout      = "timeout"      // it took too long to arrive
	outcomeUnauthorized = "unauthorized" // no client certificate
	outcomeInternal     = "internal"     // the algorithm failed to prioritize
	outcomePanic        = "panic"        // of the algorithm
	outcomeLost         = "lost"         // the client closed the connection
)

// writeRefusal answers with the message in the field of ExtenderFilterResult.
func writeRefusal(w http.ResponseWriter, r *refusal) {
	if r.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, r.status, map[string]string{"Error": r.message})
}

func writeJSON(w http.ResponseWriter, status int, fields map[string]string) {
	data, _ := json.Marshal(fields) // which cannot fail
	write(w, status, "application/json", string(data)+"\n")
}

func write(w http.ResponseWriter, status int, contentType, text string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// refuse rejects a request to an unknown path or with a wrong method. It counts all and
// logs some: a scheduler with a mistyped verb tries again and again.
func (e *Extender) refuse(w http.ResponseWriter, r *http.Request) {
	e.metrics.unknown.Inc()
	e.unknownLog.Do(func() {
		e.Logger.Info("Warning: a request for what is neither a verb nor a page; if it comes from a scheduler, fix filterVerb, preemptVerb or prioritizeVerb in its configuration, and omit bindVerb",
			"method", fmt.Sprintf("%.20s", r.Method), "path", fmt.Sprintf("%.100s", r.URL.EscapedPath()), "client", r.RemoteAddr)
	})
	writeRefusal(w, &refusal{status: http.StatusNotFound, message: fmt.Sprintf(
		"there is nothing at %s %.100q: the verbs are POST /filter, POST /preempt and POST /prioritize", r.Method, r.URL.Path)})
}

var errNoCertificate = &refusal{
	http.StatusUnauthorized, outcomeUnauthorized,
	"this needs a client certificate: set tlsConfig with certFile and keyFile for this extender in the scheduler's configuration",
}

// refusalOf returns why a request could not be read. For other errors the outcome is
// otherwise, and the message begins with prefix.
func refusalOf(err error, otherwise, prefix string) *refusal {
	var tooMuch memoryError
	switch {
	case errors.As(err, &tooMuch):
		return &refusal{http.StatusRequestEntityTooLarge, outcomeTooLarge, tooMuch.Error()}
	case errors.Is(err, errBusy):
		return &refusal{http.StatusTooManyRequests, outcomeBusy, errBusy.Error()}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{http.StatusRequestTimeout, outcomeTimeout, "the request took longer to arrive than timeouts.read allows"}
	}
	return &refusal{http.StatusBadRequest, otherwise, prefix + err.Error()}
}
