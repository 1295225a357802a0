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

// connections are those that a server has. Go's Shutdown closes idle ones with a request
// that has arrived but was not looked at yet, and drops what it reads on new ones. So the
// drain comes to an end here first.
type connections struct {
	net.Listener
	mu     sync.Mutex
	open   map[*connection]struct{}
	ending bool // idle ones end
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

// state is a server's ConnState.
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

// endIdle ends idle connections on which nothing has arrived, those that become idle later
// too.
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

// none says whether nobody is connected, or waits to be accepted.
func (c *connections) none() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) == 0 && !backlog(c.Listener)
}

// connection is one on which a deadline loses nothing that has arrived before it. Go looks
// at the deadline first: a process that got no processor for a while would cut off who
// was in time.
type connection struct {
	net.Conn
	all   *connections
	mu    sync.Mutex
	quiet bool // nothing of the next request was read
	idle  bool // a request was answered, and the next one is not known yet
	ended bool // its deadline is over
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
		_ = c.SetReadDeadline(time.Now().Add(headerTimeout)) // for what is left of the header
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
