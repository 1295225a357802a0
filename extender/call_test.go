package extender

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/extender/logging"
	"wasmkwokwizardry.io/regex-scheduling/extender/wire"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// Nodes come in thousands.
func TestExtenderAllocatesNothingForLinesBelowItsVerbosity(t *testing.T) {
	c := &call{
		Extender: &Extender{Options: Options{Logger: logging.New(io.Discard, logging.Text, 4)}},
		request:  &wire.Request{Args: algorithm.Args{Names: make([]string, 100)}},
	}
	scores, failures := make([]int64, 100), make([]*algorithm.Failure, 100)
	if got := testing.AllocsPerRun(100, func() { c.logNodes(failures, scores) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// As many large requests are decoded as are decoded at a time.
func TestExtenderAnswersSmallRequestsBesideLargeOnes(t *testing.T) {
	c := config.Default()
	must(t, c.Complete())
	e, err := New(Options{Config: c, Logger: logr.Discard()})
	must(t, err)
	defer e.Close()
	for range cap(e.decoding) {
		e.decoding <- struct{}{}
	}
	answered := make(chan int, 1)
	go func() {
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/filter", bytes.NewReader(corpus.Names("", 5000))))
		answered <- w.Code
	}()
	select {
	case code := <-answered:
		if code != http.StatusOK {
			t.Errorf("5,000 names: status %d", code)
		}
	case <-time.After(eventually.Patience):
		t.Errorf("5,000 names: no answer in %s", eventually.Patience)
	}
}
