package extender

import (
	"context"
	"fmt"
	"net"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/extender/config"
)

// Running is an extender that serves in this process.
type Running struct {
	*Extender
	// Address is where it serves: a host and a port.
	Address string
	// Stop shuts it down. The error is nil if no request was lost.
	Stop func() error
}

// Start serves on a free port of 127.0.0.1, wherever the configuration would
// have it serve. Without a configuration the extender is as it is by default. It
// stops without a time of not being ready, which nobody looks at here.
func Start(o Options) (*Running, error) {
	c := config.Default()
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
