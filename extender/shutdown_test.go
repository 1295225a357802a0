package extender_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// serve serves on loopback until stop is called, and says then how that ended.
func serve(t *testing.T, text string, unready time.Duration) (r running, l net.Listener, stop context.CancelFunc, ended <-chan error) {
	t.Helper()
	c := configure(t, text)
	c.Timeouts.Unready.Duration = unready
	c.Timeouts.Drain.Duration = patience
	e, err := extender.New(extender.Options{Config: c, Logger: logr.Discard()})
	testkit.Must(t, err)
	l, err = net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, l) }()
	return running{&extender.Running{Extender: e, Address: l.Addr().String()}}, l, stop, served
}

// A Service sends as long as the extender is ready, and a little longer.
func TestExtenderAnswersAllRequestsUntilAServiceStopsSending(t *testing.T) {
	e, l, stop, ended := serve(t, "filter: regex", patience)
	isReady := func() bool {
		response, err := http.Get("http://" + e.Address + "/readyz")
		if err != nil {
			t.Error(err)
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	}
	var sent atomic.Int64
	var clients sync.WaitGroup
	body := corpus.Names("kubecon-.*", 500)
	for range 20 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
			defer client.CloseIdleConnections()
			for ready := true; ready; sent.Add(1) {
				ready = isReady()
				status, answer, err := e.send(client, "/filter", body)
				if err != nil || status != http.StatusOK {
					t.Errorf("request %d, ready: %v: %d %.100s %v", sent.Load(), ready, status, answer, err)
					return
				}
			}
		})
	}
	eventually.Holds(t, "load", func() bool { return sent.Load() > 200 })
	stop()
	clients.Wait()
	response, err := http.Get("http://" + e.Address + "/readyz")
	testkit.Must(t, err)
	response.Body.Close()
	if response.StatusCode != http.StatusServiceUnavailable || !response.Close {
		t.Errorf("after the stop: status %d, the connection is closed: %v; want 503 and true", response.StatusCode, response.Close)
	}
	testkit.Must(t, l.Close())
	if err := eventually.Receives(t, "the end", ended); err == nil {
		t.Error("its listener was closed, and it ended without an error")
	}
}

func TestExtenderAnswersTheRequestsInFlightAndRefusesOthersWhenItStops(t *testing.T) {
	letGo := hold(t)
	e, _, stop, ended := serve(t, "filter: test-waits", 0)
	var clients sync.WaitGroup
	for range 5 {
		clients.Go(func() {
			status, answer, err := e.send(&http.Client{Timeout: patience}, "/filter", corpus.Names("", 10))
			if err != nil || status != http.StatusOK {
				t.Errorf("a request in flight: %d %.100s %v", status, answer, err)
			}
		})
	}
	eventually.Holds(t, "the requests to arrive", func() bool { return waiting.Load() == 5 })
	stop()
	eventually.Holds(t, "connections to be refused", func() bool {
		c, err := net.Dial("tcp", e.Address)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	select {
	case err := <-ended:
		t.Errorf("serving ended with requests in flight: %v", err)
	default:
	}
	letGo()
	clients.Wait()
	testkit.Must(t, eventually.Receives(t, "the end", ended))
}

func TestExtenderCutsOffRequestsAfterTheDrain(t *testing.T) {
	letGo := hold(t)
	defer letGo()
	e := start(t, configure(t, "filter: test-waits\ntimeouts: {drain: 1ms}"))
	go func() { _, _, _ = e.send(http.DefaultClient, "/filter", corpus.Names("", 1)) }()
	eventually.Holds(t, "a request to arrive", func() bool { return waiting.Load() == 1 })
	err := e.Stop()
	testkit.ErrorHas(t, err, "1 requests were cut off: they took longer than timeouts.drain, 1ms")
}
