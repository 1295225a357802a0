package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
)

// listener accepts connections with what package net/http lacks: an answer for
// who takes too long to send a header, and TLS all the same.
type listener struct {
	net.Listener
	tls    *tls.Config // nil: plain
	logger logr.Logger
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if l.tls != nil {
		c = tls.Server(c, l.tls)
	}
	return &conn{Conn: c, logger: l.logger}, nil
}

// conn is a connection that knows where in a request it is.
type conn struct {
	net.Conn // perhaps a *tls.Conn
	logger   logr.Logger
	// header is set while part of a header has been read, handled while the
	// request is with a handler.
	header, handled atomic.Bool
}

func (c *conn) begin() { c.handled.Store(true) }

func (c *conn) end() {
	c.header.Store(false)
	c.handled.Store(false)
}

// late is what a client reads that took too long to send a header. Package
// net/http would hang up without a word.
var late = parting("408 Request Timeout", "the header took longer to arrive than timeouts.header allows")

// parting is an answer from below the handlers, after which the connection is
// closed.
func parting(status, message string) string {
	body, err := json.Marshal(map[string]string{"Error": message})
	if err != nil {
		panic(err) // strings always marshal
	}
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s\n",
		status, len(body)+1, body)
}

// plain is how package net/http goes on, behind the status, where it refuses a
// request itself: one whose header is too large (431), or no HTTP (400).
const plain = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write puts such refusals into the form of all others.
func (c *conn) Write(p []byte) (int, error) {
	if !c.handled.Load() {
		if status, message, ok := ofPackageHTTP(p); ok {
			_, err := io.WriteString(c.Conn, parting(status, message))
			return len(p), err
		}
	}
	return c.Conn.Write(p)
}

// ofPackageHTTP takes a refusal of package net/http apart.
func ofPackageHTTP(answer []byte) (status, message string, ok bool) {
	line, rest, _ := strings.Cut(string(answer[:min(len(answer), 1024)]), "\r\n")
	status, ok = strings.CutPrefix(line, "HTTP/1.1 ")
	if !ok {
		return "", "", false
	}
	message, ok = strings.CutPrefix(rest, plain)
	return status, message, ok
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.header.Store(true)
	}
	if err == nil {
		return n, nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if c.header.Load() && !c.handled.Load() {
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = io.WriteString(c.Conn, late)
		}
	} else if t, ok := c.Conn.(*tls.Conn); ok && !t.ConnectionState().HandshakeComplete && !errors.Is(err, io.EOF) {
		c.logger.Info("TLS handshake failed", "client", c.RemoteAddr().String(), "err", err)
	}
	return n, err
}

type connKey struct{}

// withConn is http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns nil if the request did not come through Serve.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// isVerified reports whether the client has shown a certificate that was
// verified.
func isVerified(r *http.Request) bool {
	if c := connOf(r); c != nil {
		if t, ok := c.Conn.(*tls.Conn); ok {
			return len(t.ConnectionState().VerifiedChains) > 0
		}
	}
	return false
}
