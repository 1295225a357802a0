package extender

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

// stubborn is clients that send until nobody lets them in any more. A request
// is lost if it was not answered although its connection was made; one whose
// connection is refused was never sent.
type stubborn struct {
	url            string
	keepAlive      bool
	answered, lost atomic.Int64
	first          atomic.Pointer[error] // of those that were lost
	sync.WaitGroup
}

func (s *stubborn) client() {
	defer s.Done()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: !s.keepAlive}, Timeout: patience}
	defer client.CloseIdleConnections()
	body := corpus.Names("kubecon-.*", 20)
	for {
		err := s.send(client, body)
		var refused *net.OpError
		switch {
		case err == nil:
			s.answered.Add(1)
		case errors.As(err, &refused) && refused.Op == "dial":
			return
		default:
			s.lost.Add(1)
			s.first.CompareAndSwap(nil, &err)
		}
	}
}

func (s *stubborn) send(client *http.Client, body []byte) error {
	response, err := client.Post(s.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// TestNoRequestIsLostHoweverLongClientsSend stops servers under clients that
// take no notice.
func TestNoRequestIsLostHoweverLongClientsSend(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can refuse connections and keep those that are made")
	}
	for _, of := range []struct {
		name      string
		clients   int
		keepAlive bool
	}{{"16 clients that keep their connections", 16, true}, {"64 clients with a connection for each request", 64, false}} {
		t.Run(of.name, func(t *testing.T) {
			var answered int64
			for _, unready := range []time.Duration{0, 0, 0, time.Millisecond, 50 * time.Millisecond} {
				answered += stopUnder(t, of.clients, of.keepAlive, unready, 8000)
			}
			t.Logf("%d requests were answered in five stops", answered)
		})
	}
}

// stopUnder stops a server that has answered so many requests, and returns how
// many it answered in all.
func stopUnder(t *testing.T, clients int, keepAlive bool, unready time.Duration, requests int64) int64 {
	s := newServer(t, &blocking{})
	s.Config.Timeouts.Unready.Duration = unready
	s.Config.Timeouts.Drain.Duration = patience
	s.idle = patience // a client may get no processor for long between two requests
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- s.Serve(ctx, l)
	}()
	load := &stubborn{url: "http://" + l.Addr().String() + "/filter", keepAlive: keepAlive}
	for range clients {
		load.Add(1)
		go load.client()
	}
	eventually(t, "load", func() bool { return load.answered.Load()+load.lost.Load() >= requests })
	stop()
	if err := <-served; err != nil {
		t.Errorf("serving ended with %v", err)
	}
	load.Wait()
	if lost := load.lost.Load(); lost > 0 {
		t.Errorf("%d of %d requests were lost, one with: %v", lost, lost+load.answered.Load(), *load.first.Load())
	}
	return load.answered.Load()
}
