package webserver

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/static"
)

func TestAGuestIsServedUnderTheNameOfTheClustersServer(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // must not be asked
	server, err := Start(0)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: Names(map[string]string{"static-webserver": server.Address()})}
	for _, file := range []string{"regex_v1.wasm", "regex_v2.wasm"} {
		want, err := static.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Get("http://static-webserver/" + file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes of %d, %v", file, len(got), len(want), err)
		}
		if typ := response.Header.Get("Content-Type"); typ != "application/wasm" {
			t.Errorf("%s: content type %q", file, typ)
		}
		_ = response.Body.Close()
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	client.CloseIdleConnections()
	if response, err := client.Get("http://static-webserver/regex_v1.wasm"); err == nil {
		_ = response.Body.Close()
		t.Error("a stopped server still serves")
	}
}

func TestATakenPortIsAnError(t *testing.T) {
	server, err := Start(0)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	port := server.listener.Addr().(*net.TCPAddr).Port
	if again, err := Start(port); err == nil {
		_ = again.Stop()
		t.Error("two servers on one port")
	}
}
