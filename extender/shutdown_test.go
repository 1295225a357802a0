package extender

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

// patience is how long a test waits for what must happen. Nothing is asserted to be
// faster.
const patience = 5 * time.Minute

// blocking is an algorithm whose Prioritize waits until letGo is closed.
type blocking struct {
	waiting atomic.Int64
	letGo   chan struct{}
}

func (*blocking) Filter(context.Context, *algorithm.Args) ([]*algorithm.Failure, error) {
	return nil, nil
}

func (h *blocking) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	h.waiting.Add(1)
	<-h.letGo
	return algorithm.Equal(1, len(args.Names)), nil
}

func newServer(t testing.TB, a algorithm.Algorithm) *Extender {
	c := config.Default()
	if err := c.Complete(); err != nil {
		t.Fatal(err)
	}
	e, err := New(Options{Config: c, Logger: logr.Discard(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for name := range e.algorithms {
		e.algorithms[name] = a
	}
	return e
}

// load is clients that send as long as the server says that it is ready, as
// those behind a Service do.
type load struct {
	*testing.T
	url     string
	handler http.Handler
	sent    atomic.Int64
	sync.WaitGroup
}

func (l *load) ready() bool {
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	return w.Code == http.StatusOK
}

func (l *load) send(client *http.Client, verb string, body []byte) {
	response, err := client.Post(l.url+verb, "application/json", bytes.NewReader(body))
	if err != nil {
		l.Errorf("a request was lost: %v", err)
		return
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !json.Valid(answer) {
		l.Errorf("a request was lost: %s %.100s %v", response.Status, answer, err)
	}
}

func (l *load) client() {
	defer l.Done()
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	defer client.CloseIdleConnections()
	body := corpus.Names("kubecon-.*", 500)
	for l.ready() {
		l.send(client, "/filter", body)
		l.sent.Add(1)
	}
}

// TestShutdownUnderLoadLosesNothing has requests in flight when the server is stopped,
// others that come while it is not ready, and some that end only after connections are
// refused.
func TestShutdownUnderLoadLosesNothing(t *testing.T) {
	h := &blocking{letGo: make(chan struct{})}
	s := newServer(t, h)
	s.Config.Timeouts.Unready.Duration = 1
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	clients := &load{T: t, url: "http://" + l.Addr().String(), handler: s.Handler()}
	closing := make(chan struct{})
	s.after = func(time.Duration) <-chan time.Time { // when all clients have turned away
		over := make(chan time.Time)
		go func() { clients.Wait(); close(closing); close(over) }()
		return over
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- s.Serve(ctx, l)
	}()
	var last sync.WaitGroup
	for range 5 {
		last.Add(1)
		go func() {
			defer last.Done()
			clients.send(&http.Client{Timeout: patience}, "/prioritize", corpus.Names("", 10))
		}()
	}
	for range 20 {
		clients.Add(1)
		go clients.client()
	}
	eventually(t, "load", func() bool { return h.waiting.Load() == 5 && clients.sent.Load() > 200 })
	stop()
	<-closing
	eventually(t, "connections to be refused", func() bool {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	select {
	case err := <-served:
		t.Errorf("serving ended with requests in flight: %v", err)
	default:
	}
	close(h.letGo)
	last.Wait()
	if err := <-served; err != nil {
		t.Errorf("serving ended with %v", err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}
