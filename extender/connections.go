package extender

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// connections are those of a server. Go's Shutdown loses requests: it closes idle
// connections on which a request has arrived and was not read yet, and drops what it reads
// on new ones. So this type ends them before Shutdown is called.
type connections struct {
	net.Listener
	mu     sync.Mutex
	open   map[*connection]struct{}
	ending bool // connections end when they become idle
}

func (c *connections) Accept() (net.Conn, error) {
	one, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	made := &connection{Conn: one, all: c, quiet: true}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[made] = struct{}{}
	return made, nil
}

// state is the server's ConnState.
func (c *connections) state(of net.Conn, state http.ConnState) {
	if secure, ok := of.(*tls.Conn); ok {
		of = secure.NetConn()
	}
	one := of.(*connection)
	c.mu.Lock()
	defer c.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	one.idle = state == http.StateIdle
	one.quiet = one.idle || state == http.StateNew
	if c.ending {
		one.end()
	}
}

// endIdle ends idle connections on which nothing has arrived, also those that become idle
// later.
func (c *connections) endIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	for one := range c.open {
		one.mu.Lock()
		one.end()
		one.mu.Unlock()
	}
}

// none reports whether there is no connection, accepted or not.
func (c *connections) none() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) == 0 && !backlog(c.Listener)
}

// connection is a connection on which a deadline loses nothing that has arrived before it.
// Go's connections check the deadline first, so a process that gets no CPU for a while
// would lose requests that arrived in time.
type connection struct {
	net.Conn
	all   *connections
	mu    sync.Mutex
	quiet bool // nothing of the next request is read
	idle  bool // between two requests
	ended bool // its deadline has passed
}

// end ends an idle connection, unless a request has begun to arrive.
func (c *connection) end() {
	if c.idle && c.quiet {
		c.ended = true
		_ = c.SetReadDeadline(past)
	}
}

func (c *connection) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.quiet {
		return n, err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if n = arrived(c.Conn, into); n > 0 {
			c.ended, err = true, nil
		}
	}
	if n > 0 && c.ended {
		_ = c.SetReadDeadline(time.Now().Add(headerTimeout)) // for the rest of the header
	}
	c.quiet = n == 0
	return n, err
}

func (c *connection) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
