package kubectl

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestSchedulerThatNeverAnswersIsLeftAtTheRequestTimeout(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":"t"}}`)
	}))
	defer api.Close()
	silent := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	for timeout, want := range map[time.Duration]time.Duration{0: answerWithin, time.Minute: time.Minute} {
		client, err := (&options{}).schedulerClient(t.Context(), &rest.Config{Host: api.URL, Timeout: timeout}, "regex-scheduling")
		testkit.Must(t, err)
		if client.Timeout != want {
			t.Errorf("--request-timeout %s: it ends after %s, want %s", timeout, client.Timeout, want)
		}
	}
	client, err := (&options{}).schedulerClient(t.Context(), &rest.Config{Host: api.URL}, "regex-scheduling")
	testkit.Must(t, err)
	client.Timeout = 10 * time.Millisecond
	_, err = client.Get(silent.URL)
	timeout := net.Error(nil)
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
}

func TestAnswerWithoutDecisionsIsShownInShort(t *testing.T) {
	got := refusal(http.StatusOK, []byte(`{"pod":"a/b","verdict":"`+strings.Repeat("x", 1<<20)))
	if len(got) > 2*maxRefusal {
		t.Errorf("%d bytes", len(got))
	}
}
