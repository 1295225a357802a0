package extender_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/testlog"
)

// TestExtenderKeepsAConnectionAfterARejectedRequest sends, over one connection, bodies
// that are not read, each before a good request.
func TestExtenderKeepsAConnectionAfterARejectedRequest(t *testing.T) {
	e := start(t, loadConfig(t, ""))
	c, err := net.Dial("tcp", e.Address)
	must(t, err)
	alternate(t, c, map[string]int{
		"POST /nothing HTTP/1.1": http.StatusNotFound, "PUT /filter HTTP/1.1": http.StatusMethodNotAllowed,
		"POST /filter HTTP/1.1\r\nContent-Encoding: gzip": http.StatusUnsupportedMediaType,
		"GET /healthz HTTP/1.1":                           http.StatusOK, "GET /metrics HTTP/1.1": http.StatusOK,
	}, "POST /filter HTTP/1.1")
}

func TestExtenderKeepsAConnectionWithoutACertificate(t *testing.T) {
	s := startTLS(t, pki.New(t).File)
	c, err := tls.Dial("tcp", s.Address, &tls.Config{RootCAs: s.authority.Pool()})
	must(t, err)
	alternate(t, c, map[string]int{"POST /filter HTTP/1.1": http.StatusUnauthorized}, "GET /readyz HTTP/1.1")
}

// alternate sends requests with a body over one connection: the ones that are
// refused, with the status that they get, and a good one, in turns.
func alternate(t *testing.T, c net.Conn, refused map[string]int, good string) {
	t.Helper()
	defer c.Close()
	must(t, c.SetDeadline(time.Now().Add(patience)))
	answers, body := bufio.NewReader(c), corpus.Names("kubecon-.*", 300)
	ask := func(beginning string, want int) {
		t.Helper()
		_, err := fmt.Fprintf(c, "%s\r\nHost: extender\r\nContent-Length: %d\r\n\r\n%s", beginning, len(body), body)
		must(t, err)
		response, err := http.ReadResponse(answers, nil)
		must(t, err)
		answer, err := io.ReadAll(response.Body)
		must(t, err)
		if response.StatusCode != want {
			t.Fatalf("%q: status %d, want %d: %.200s", beginning, response.StatusCode, want, answer)
		}
	}
	for range 40 {
		for beginning, status := range refused {
			ask(beginning, status)
			ask(good, http.StatusOK)
		}
	}
}

// TestExtenderLogsAFailedHandshake by a client that speaks no TLS.
func TestExtenderLogsAFailedHandshake(t *testing.T) {
	var log testlog.Log
	s := startTLS(t, "")
	e := startLogging(t, s.Config, extender.NewLogger(&log, extender.LogText, 0))
	c := slowly(t, e.Address, "GET /healthz HTTP/1.1\r\n\r\n")
	_, _ = io.Copy(io.Discard, c)
	eventually(t, "a line about the handshake of "+c.LocalAddr().String(), func() bool {
		return strings.Contains(log.String(), "TLS handshake error from "+c.LocalAddr().String())
	})
}
