package simulator

import "errors"

// extenderName is the host under which configurations refer to the HTTP
// extender that the simulator runs.
const extenderName = "extender"

// errNoExtender is told to whoever asks for the extender.
var errNoExtender = errors.New("the HTTP extender is not part of this build yet: choose door v1, v2, native or default")

// extenderServer is the HTTP extender, running in this process.
type extenderServer struct {
	// address is host and port to connect to.
	address string
	stop    func() error
}

// startExtender starts the extender on a free port of 127.0.0.1. It returns nil
// while there is none.
func startExtender() (*extenderServer, error) { return nil, nil }
