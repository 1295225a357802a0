package extender_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// patience is how long a test waits for what must happen. Nothing is asserted
// to be faster.
const patience = testkit.Patience

func loadConfig(t testing.TB, path string) *extender.Config {
	t.Helper()
	c, err := extender.LoadConfig(path)
	testkit.Must(t, err)
	c.Timeouts.Unready.Duration = 0
	return c
}

// configure loads a configuration from text.
func configure(t testing.TB, text string) *extender.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return loadConfig(t, path)
}

func newExtender(t testing.TB, c *extender.Config) *extender.Extender {
	t.Helper()
	e, err := extender.New(extender.Options{Config: c, Logger: logr.Discard(), Version: "v0.0.0-test"})
	testkit.Must(t, err)
	t.Cleanup(e.Close)
	return e
}

// newLogging is an extender with its log, of a verbosity.
func newLogging(t testing.TB, verbosity int) (*extender.Extender, *testkit.Log) {
	t.Helper()
	log := &testkit.Log{}
	e, err := extender.New(extender.Options{Config: loadConfig(t, ""), Logger: extender.NewLogger(log, extender.LogText, verbosity)})
	testkit.Must(t, err)
	t.Cleanup(e.Close)
	return e, log
}

func post(handler http.Handler, path string, body []byte) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
	return w
}

// running is an extender that serves on loopback until the test ends.
type running struct{ *extender.Running }

func start(t testing.TB, c *extender.Config) running {
	t.Helper()
	return startLogging(t, c, logr.Discard())
}

func startLogging(t testing.TB, c *extender.Config, logger logr.Logger) running {
	t.Helper()
	r, err := extender.Start(extender.Options{Config: c, Logger: logger})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = r.Stop() })
	return running{r}
}

// send posts to a running extender and returns status and answer.
func (r running) send(client *http.Client, path string, body []byte) (int, string, error) {
	response, err := client.Post("http://"+r.Address+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

// get gets a page of an extender.
func get(handler http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}
