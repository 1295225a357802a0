package extender

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Running is an extender that Start started.
type Running struct {
	*Extender
	Address string       // host and port
	Stop    func() error // shuts it down; the error is nil if all requests in flight were answered
}

// Start serves on a free port of 127.0.0.1, whatever address the configuration has. The
// default configuration takes the place of a missing one. Stop does not wait for
// timeouts.unready.
func Start(o Options) (*Running, error) {
	c := DefaultConfig()
	if o.Config != nil {
		*c = *o.Config
	} else if err := c.Complete(); err != nil {
		return nil, fmt.Errorf("extender: %w", err)
	}
	c.Timeouts.Unready.Duration = 0
	o.Config = c
	e, err := New(o)
	if err != nil {
		return nil, fmt.Errorf("extender: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.Close()
		return nil, fmt.Errorf("extender: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx, l) }()
	stop := sync.OnceValue(func() error { cancel(); return <-ended })
	return &Running{Extender: e, Address: l.Addr().String(), Stop: stop}, nil
}
