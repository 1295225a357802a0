//go:build !linux

package extender

import (
	"errors"
	"net"
)

// refuseConnections is for Linux, where it loses nobody.
func refuseConnections(net.Listener) error { return errors.ErrUnsupported }
