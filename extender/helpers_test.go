package extender_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// patience is how long a test waits for what must happen. Nothing is asserted
// to be faster.
const patience = testkit.Patience

func loadConfig(t testing.TB, path string) *extender.Config {
	t.Helper()
	c := load(t, path)
	c.Timeouts.Unready.Duration = 0
	return c
}

// configure loads a configuration from text.
func configure(t testing.TB, text string) *extender.Config {
	t.Helper()
	return loadConfig(t, testkit.TempFile(t, "config.yaml", text))
}

func newExtender(t testing.TB, c *extender.Config) *extender.Extender {
	t.Helper()
	return newOf(t, extender.Options{Config: c, Logger: logr.Discard(), Version: "v0.0.0-test"})
}

func newOf(t testing.TB, o extender.Options) *extender.Extender {
	t.Helper()
	e, err := extender.New(o)
	testkit.Must(t, err)
	t.Cleanup(e.Close)
	return e
}

// newLogging is an extender with its log, of a verbosity.
func newLogging(t testing.TB, verbosity int) (*extender.Extender, *testkit.Log) {
	t.Helper()
	log := &testkit.Log{}
	return newOf(t, extender.Options{Config: loadConfig(t, ""), Logger: extender.NewLogger(log, extender.LogText, verbosity)}), log
}

func post(handler http.Handler, path string, body []byte) *httptest.ResponseRecorder {
	return answer(handler, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
}

func answer(handler http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
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
	return answer(handler, httptest.NewRequest(http.MethodGet, path, nil))
}

// The algorithms below misbehave, each in one way, for the tests of the server.
func init() {
	register("test-panics", fault(func(context.Context) error { panic("as configured") }))
	register("test-fails", fault(func(context.Context) error { return errors.New("failed as configured") }))
	register("test-answers-for-one", answers{make([]*algorithm.Failure, 1), []int64{0}})
	register("test-scores-too-high", answers{scores: []int64{0, 10, 11}})
	register("test-scores-too-low", answers{scores: []int64{0, 10, -1}})
	register("test-waits", fault(func(context.Context) error {
		waiting.Add(1)
		defer waiting.Add(-1)
		<-*release.Load()
		return nil
	}))
	register("test-panics-in-background", panicsInBackground{})
}

// Requests to test-waits wait until the current channel is closed.
var (
	waiting atomic.Int64
	release atomic.Pointer[chan struct{}]
)

// hold makes the requests to test-waits wait until the returned function is
// called.
func hold(t testing.TB) (letGo func()) {
	testkit.EventuallyHolds(t, "the requests of other tests to end", func() bool { return waiting.Load() == 0 })
	c := make(chan struct{})
	release.Store(&c)
	return func() { close(c) }
}

func register(name string, a algorithm.Algorithm) {
	extender.Register(name, func(*extender.Algorithms, logr.Logger) (algorithm.Algorithm, error) { return a, nil })
}

type fault func(context.Context) error

func (f fault) Filter(ctx context.Context, _ *algorithm.Args) ([]*algorithm.Failure, error) {
	return nil, f(ctx)
}

func (f fault) Prioritize(ctx context.Context, args *algorithm.Args) ([]int64, error) {
	return algorithm.Equal(1, len(args.Names)), f(ctx)
}

type answers struct {
	failures []*algorithm.Failure
	scores   []int64
}

func (a answers) Filter(context.Context, *algorithm.Args) ([]*algorithm.Failure, error) {
	return a.failures, nil
}

func (a answers) Prioritize(context.Context, *algorithm.Args) ([]int64, error) {
	return a.scores, nil
}

type panicsInBackground struct{ fault }

func (panicsInBackground) Run(context.Context) { panic("in the background") }

func (panicsInBackground) Health() algorithm.Health { return algorithm.Health{OK: true} }

func (panicsInBackground) Filter(context.Context, *algorithm.Args) ([]*algorithm.Failure, error) {
	return nil, nil
}
