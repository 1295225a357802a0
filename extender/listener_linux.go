package extender

import (
	"errors"
	"math"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// refuseConnections refuses new connections to l. Closing l would also reset connections
// that are not accepted yet, and lose their requests. So it binds l to a network interface
// that does not exist: the kernel then refuses new connections, and completes those that
// have begun. It needs Linux 5.7, or the capability NET_RAW.
func refuseConnections(l net.Listener) error {
	socket, ok := l.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var bound error
	err = raw.Control(func(fd uintptr) {
		bound = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX, math.MaxInt32)
	})
	return errors.Join(err, bound)
}

// backlog reports whether l has a connection that is not accepted yet.
func backlog(l net.Listener) (some bool) {
	control(l, func(fd int) {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		some = n > 0
	})
	return some
}

// arrived reads what has arrived, also after the deadline.
func arrived(c net.Conn, into []byte) (n int) {
	control(c, func(fd int) { n, _ = syscall.Read(fd, into) })
	return max(n, 0)
}

// control calls do with the file descriptor, if there is one.
func control(of any, do func(fd int)) {
	if socket, ok := of.(syscall.Conn); ok {
		if raw, err := socket.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { do(int(fd)) })
		}
	}
}
