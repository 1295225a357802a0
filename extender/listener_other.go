//go:build !linux

package extender

import (
	"errors"
	"net"
)

// refuseConnections is for Linux, where it loses nobody.
func refuseConnections(net.Listener) error { return errors.ErrUnsupported }

// backlog is not known here.
func backlog(net.Listener) bool { return false }

// arrived reads nothing here: what has arrived after a deadline is lost.
func arrived(net.Conn, []byte) int { return 0 }
