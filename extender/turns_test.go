package extender

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

// TestWhatIsSmallWaitsForNothingLarge has as many large requests read as are read at a
// time.
func TestWhatIsSmallWaitsForNothingLarge(t *testing.T) {
	s := newServer(t, &blocking{})
	ask := func(body []byte) <-chan int {
		status := make(chan int, 1)
		go func() {
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/filter", bytes.NewReader(body)))
			status <- w.Code
		}()
		return status
	}
	answered := func(what string, status <-chan int) {
		t.Helper()
		select {
		case code := <-status:
			if code != http.StatusOK {
				t.Errorf("%s: status %d", what, code)
			}
		case <-time.After(patience):
			t.Fatalf("%s: no answer in %s", what, patience)
		}
	}
	for range cap(s.readingLarge) {
		s.readingLarge <- struct{}{}
	}
	waiting := ask(corpus.Full("", 300))
	answered("100 names beside large ones", ask(corpus.Names("", 100)))
	answered("5,000 names beside large ones", ask(corpus.Names("", 5000)))
	select {
	case <-waiting:
		t.Error("300 nodes were read out of turn")
	default:
	}
	for range cap(s.readingLarge) {
		<-s.readingLarge
	}
	answered("300 nodes, in their turn", waiting)
}
