package guestserver

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/static"
)

func TestGuestIsServedUnderTheNameOfTheClustersServer(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // must not be asked
	server, _, err := Start("127.0.0.1:0")
	testkit.Must(t, err)
	client := &http.Client{Transport: Names(map[string]string{"static-webserver": server.Addr})}
	want, err := static.Files.ReadFile("regex_v2.wasm")
	testkit.Must(t, err)
	response, err := client.Get("http://static-webserver/regex_v2.wasm")
	testkit.Must(t, err)
	got, err := io.ReadAll(response.Body)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
	_ = response.Body.Close()
	testkit.Must(t, server.Close())
	client.CloseIdleConnections()
	if response, err := client.Get("http://static-webserver/regex_v2.wasm"); err == nil {
		_ = response.Body.Close()
		t.Error("a stopped server still serves")
	}
}
