package extender

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestADeadlineLosesNothingThatHasArrived before it, as of a process that got no
// processor meanwhile.
func TestADeadlineLosesNothingThatHasArrived(t *testing.T) {
	for request, want := range map[string]error{"POST": nil, "": os.ErrDeadlineExceeded} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		eventually(t, "a connection in the backlog", func() bool { return backlog(l) })
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		if backlog(l) {
			t.Error("somebody waits to be accepted who was")
		}
		if _, err := io.WriteString(client, request); err != nil {
			t.Fatal(err)
		}
		c := &connection{Conn: server, quiet: true, idle: true}
		c.end()
		got := make([]byte, 10)
		n, err := c.Read(got)
		if string(got[:n]) != request || !errors.Is(err, want) {
			t.Errorf("%q was sent: read %q, %v; want %v", request, got[:n], err, want)
		}
	}
}

// TestWhoHasConnectedIsAnswered even if the request comes after the lull.
func TestWhoHasConnectedIsAnswered(t *testing.T) {
	for askAfterLull(t) > headerTimeout/2 {
		t.Log("the machine is too slow for headerTimeout: once more")
	}
}

// askAfterLull returns how long the client took to ask.
func askAfterLull(t *testing.T) time.Duration {
	s := newServer(t, &blocking{})
	s.Config.Timeouts.Unready.Duration = 0
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	eventually(t, "the connection to be accepted", func() bool { return !backlog(l) })
	stop()
	time.Sleep(2 * lull) // a longer one changes nothing
	if _, err := io.WriteString(client, "GET /healthz HTTP/1.1\r\nHost: extender\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	answer, err := io.ReadAll(client)
	if took <= headerTimeout/2 && (err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 ")) {
		t.Errorf("got %q, %v; want an answer", answer, err)
	}
	if err := <-served; err != nil {
		t.Errorf("serving ended with %v", err)
	}
	return took
}
