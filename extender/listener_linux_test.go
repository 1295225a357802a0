package extender

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
)

// TestWhoHasConnectedIsAcceptedAndNobodyElse and for nobody else.
func TestWhoHasConnectedIsAcceptedAndNobodyElse(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", ":0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // no IPv6 here
			continue
		}
		defer l.Close()
		before, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer before.Close()
		if err := refuseConnections(l); err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		if _, err := net.Dial("tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: who comes later: got %v, want to be refused", address, err)
		}
		if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err != nil {
			t.Errorf("%s: who came before: %v", address, err)
			continue
		}
		c.Close()
	}
}
