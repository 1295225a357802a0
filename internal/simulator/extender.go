package simulator

import (
	"context"
	"fmt"
	"net"

	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
)

// extenderName is the host under which configurations refer to the HTTP
// extender that the simulator runs.
const extenderName = "extender"

// extenderServer is the HTTP extender, running in this process.
type extenderServer struct {
	// address is host and port to connect to.
	address string
	stop    func() error
}

// startExtender starts the extender, as it is without any configuration, on a
// free port of 127.0.0.1. It answers full nodes and names alike.
func startExtender() (*extenderServer, error) {
	c := config.Default()
	if err := c.Complete(); err != nil {
		return nil, fmt.Errorf("extender: %w", err)
	}
	c.Timeouts.Unready.Duration = 0 // there is no Service to notice
	// Only errors: what it says of itself belongs to its own console.
	e, err := extender.New(extender.Options{Config: c, Logger: klog.Background().WithName("extender").V(2)})
	if err != nil {
		return nil, fmt.Errorf("extender: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.Close()
		return nil, fmt.Errorf("extender: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx, listener) }()
	return &extenderServer{
		address: listener.Addr().String(),
		stop:    func() error { cancel(); return <-ended },
	}, nil
}
