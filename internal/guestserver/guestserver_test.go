package guestserver

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/static"
)

func TestGuestsAreServedAsBuilt(t *testing.T) {
	for _, name := range []string{"regex_v1.wasm", "regex_v2.wasm"} {
		want, err := static.Files.ReadFile(name)
		testkit.Must(t, err)
		answer := ask(http.MethodGet, "/"+name)
		if answer.Code != http.StatusOK || !bytes.Equal(answer.Body.Bytes(), want) {
			t.Errorf("%s: status %d, %d bytes of %d", name, answer.Code, answer.Body.Len(), len(want))
		}
		got := answer.Header().Get("Content-Type")
		if got != "application/wasm" {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestNothingElseIsServed(t *testing.T) {
	for request, want := range map[string]int{
		"GET /healthz":          http.StatusOK,
		"GET /metrics":          http.StatusOK,
		"GET /":                 http.StatusOK, // a list of the files
		"GET /static.go":        http.StatusNotFound,
		"GET /regex_v3.wasm":    http.StatusNotFound,
		"POST /regex_v2.wasm":   http.StatusMethodNotAllowed,
		"PUT /regex_v2.wasm":    http.StatusMethodNotAllowed,
		"GET /%2e%2e/static.go": http.StatusNotFound,
	} {
		method, path, _ := strings.Cut(request, " ")
		got := ask(method, path).Code
		if got != want {
			t.Errorf("%s: status %d, want %d", request, got, want)
		}
	}
}

// Prometheus 3 takes no scrape without a type.
func TestScrapeSucceeds(t *testing.T) {
	got := ask(http.MethodGet, "/metrics").Header().Get("Content-Type")
	if !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("the type is %q", got)
	}
}

func ask(method, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	Handler().ServeHTTP(answer, httptest.NewRequest(method, path, nil))
	return answer
}

func TestProgramServesUntilItIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log, stderr := io.Pipe()
	status := make(chan int)
	go func() { status <- Main(ctx, []string{"--listen=127.0.0.1:0"}, io.Discard, stderr) }()
	line, err := bufio.NewReader(log).ReadString('\n')
	testkit.Must(t, err)
	_, url, _ := strings.Cut(strings.TrimSpace(line), "serving on ")
	response, err := http.Get(url + "healthz")
	testkit.Must(t, err)
	response.Body.Close()
	cancel()
	got := testkit.EventuallyReceives(t, "the program ends", status)
	if got != 0 {
		t.Errorf("exit status %d", got)
	}
}

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
