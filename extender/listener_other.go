//go:build !linux

package extender

import (
	"errors"
	"net"
)

// refuseConnections works on Linux only.
func refuseConnections(net.Listener) error { return errors.ErrUnsupported }

// backlog is unknown here.
func backlog(net.Listener) bool { return false }

// arrived reads nothing here: what arrived before a deadline can be lost.
func arrived(net.Conn, []byte) int { return 0 }
