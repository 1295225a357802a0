package extender

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

// TestWhatIsSmallWaitsForNothingLarge has as many requests read as are read at a
// time, of each class of sizes in turn.
func TestWhatIsSmallWaitsForNothingLarge(t *testing.T) {
	s := newServer(t, &blocking{})
	bodies := [][]byte{corpus.Names("", 100), corpus.Names("", 5000), corpus.Full("", 300)}
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
	for class, body := range bodies {
		turns := s.turns.of(len(body))
		for range cap(turns) {
			turns <- struct{}{}
		}
		waiting := ask(body)
		for other, body := range bodies {
			if other != class {
				answered(fmt.Sprintf("%d bytes beside %d", len(body), len(bodies[class])), ask(body))
			}
		}
		select {
		case <-waiting:
			t.Errorf("a body of %d bytes was read out of turn", len(body))
		default:
		}
		for range cap(turns) {
			<-turns
		}
		answered("a body of its class, in its turn", waiting)
	}
}
