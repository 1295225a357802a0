package extender

import (
	"errors"
	"math"
	"net"
	"syscall"
)

// refuseConnections lets nobody connect to l any more. To close l would do that
// too, but reset who has connected and is not accepted yet, with the request that
// is on its way. So l is bound to a network interface that does not exist: the
// kernel refuses who asks for a connection, and finishes those that have begun.
// It needs Linux 5.7, or the capability NET_RAW.
func refuseConnections(l net.Listener) error {
	socket, ok := l.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	const bindToIfIndex = 62 // SO_BINDTOIFINDEX; package syscall does not have it
	var bound error
	err = raw.Control(func(fd uintptr) {
		bound = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, bindToIfIndex, math.MaxInt32)
	})
	return errors.Join(err, bound)
}
