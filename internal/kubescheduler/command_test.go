package kubescheduler

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// TestAKubeletIsToldOfAGuestThatHangs asks the command itself, which serves before
// it has an API server.
func TestAKubeletIsToldOfAGuestThatHangs(t *testing.T) {
	c := newCommand(&wasmhost.Host{})
	var hangs atomic.Bool
	c.healthy = func() error {
		if hangs.Load() {
			return errors.New("plugin Wasm: hangs")
		}
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.opts.SecureServing.Listener = listener
	cmd := c.cobra()
	cmd.SetArgs([]string{"--master=http://127.0.0.1:1", "--leader-elect=false"})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	cmd.SetContext(ctx)
	go func() { ended <- Execute(cmd) }()
	defer func() {
		cancel()
		if err := eventually.Receives(t, "the scheduler ends", ended); err == nil || err.Error() != "finished without leader elect" {
			t.Errorf("it ends with %v", err)
		}
	}()

	asks := func(path string, code int, text string) {
		t.Helper()
		eventually.Succeeds(t, path, func(context.Context) error { return answers("https://"+listener.Addr().String()+path, code, text) })
	}
	asks("/livez", 200, "ok")
	asks("/healthz", 200, "ok")
	hangs.Store(true)
	asks("/livez", 500, "plugin Wasm: hangs")
	asks("/healthz", 500, "plugin Wasm: hangs")
	asks("/readyz", 500, "sched-handler-sync") // as before: it has seen no cluster
	hangs.Store(false)
	asks("/livez", 200, "ok")
}

func answers(url string, code int, text string) error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != code || !strings.Contains(string(body), text)) {
		return fmt.Errorf("%s: %s", resp.Status, body)
	}
	return err
}
