package wasmhost

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/component-base/metrics/legacyregistry"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestMetricsOfAGuest(t *testing.T) {
	pl := openCounted(t, "trap_filter", Args{Instances: 1})
	state, p := framework.NewCycleState(), pod("web")
	state.SetRecordPluginMetrics(true)
	for _, name := range []string{"a", "b", "trap"} {
		pl.(fwk.FilterPlugin).Filter(t.Context(), state, p, node(name))
	}
	schedule(t.Context(), pl, p, "a") // not measured, and in another instance
	labels := `{plugin="` + t.Name() + `"}`
	hook := `{code="%",hook="filter",plugin="` + t.Name() + `"}`
	want := map[string]string{
		"scheduler_wasm_call_duration_seconds_count" + strings.Replace(hook, "%", "Success", 1): "2",
		"scheduler_wasm_call_duration_seconds_count" + strings.Replace(hook, "%", "Error", 1):   "1",
		"scheduler_wasm_guest_instances" + labels:                                               "1",
		"scheduler_wasm_guest_memory_bytes" + labels:                                            "65536",
		"scheduler_wasm_guest_traps_total" + labels:                                             "1",
	}
	got := gathered(t)
	for series, value := range want {
		testkit.Equal(t, got[series], value, "%s", series)
	}
	testkit.Must(t, inside(pl).Close())
	for _, series := range []string{"scheduler_wasm_guest_instances", "scheduler_wasm_guest_memory_bytes"} {
		testkit.Equal(t, gathered(t)[series+labels], "0", "after the end, %s", series)
	}
}

// gathered is what stands on /metrics, by series.
func gathered(t *testing.T) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	legacyregistry.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	series := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err == nil {
				series[name+"}"] = strconv.FormatFloat(n, 'f', -1, 64)
			}
		}
	}
	return series
}

func TestArgsThatWereNotParsedAreValidatedAtTheStart(t *testing.T) {
	for field, args := range map[string]Args{
		"memoryLimit":  {MemoryLimit: quantity(-1)},
		"answersLimit": {AnswersLimit: quantity(-1)},
		"instances":    {Instances: 2},
	} {
		args.GuestURL = fileURLOf("endless")
		err := startError(t, args)
		var about *ArgsError
		if !errors.As(err, &about) || about.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A fetch that does not end holds up neither other guests nor Close.
func TestHostThatFetchesHoldsUpNoOtherGuest(t *testing.T) {
	asked := make(chan struct{}, 1)
	h := New(Options{Fetch: func(ctx context.Context, args Args) ([]byte, error) {
		if args.GuestURL != "https://hanging" {
			return fromFiles.Fetch(ctx, args)
		}
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	ended := make(chan error, 1)
	go func() {
		_, err := h.Start(t.Context(), "Wasm", Args{GuestURL: "https://hanging"})
		ended <- err
	}()
	testkit.EventuallyReceives(t, "the guest is fetched", asked)
	_, err := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURLOf("endless")})
	testkit.Must(t, err)
	testkit.Must(t, errors.Join(h.Close(), h.Close()))
	err = testkit.EventuallyReceives(t, "the start ends", ended)
	testkit.ErrorIs(t, err, ErrClosed)
}

// starting starts a guest that loops at once, and returns when it does.
func starting(ctx context.Context, t *testing.T, h *Host, config string) (ended <-chan error) {
	started := make(chan error, 1)
	go func() {
		_, err := h.Start(ctx, "Wasm", Args{GuestURL: fileURLOf("endless_hook"), GuestConfig: config, CallTimeout: Timeout{time.Hour}})
		started <- err
	}()
	testkit.EventuallyHolds(t, "the guest runs", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		for p := range h.guests {
			return runs(p, config != "s")
		}
		return false
	})
	return started
}

// runs reports whether a call is under way, or else the start of an instance.
func runs(p *guest, call bool) bool {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	instances := 0
	for range p.pool.watchdog.running.Range {
		instances++
	}
	return len(p.pool.free) < p.pool.slots && (instances > 0) == call
}

func TestStartEndsWithItsContextOrItsHost(t *testing.T) {
	for config, hook := range map[string]string{"s": "_start", "d": "decides_by", "e": "enqueue"} {
		h := New(fromFiles)
		ctx, cancel := context.WithCancel(t.Context())
		ended := starting(ctx, t, h, config)
		cancel()
		err := testkit.EventuallyReceives(t, "the start ends", ended)
		testkit.Has(t, testkit.Message(err), hook+" error: context canceled")
		ended = starting(t.Context(), t, h, config)
		testkit.Must(t, h.Close())
		err = testkit.EventuallyReceives(t, "the start ends", ended)
		testkit.Equal(t, errors.Is(err, ErrClosed), true, "%s, its host: %v", hook, err)
	}
}

// The guest has one instance, and then another one that does not start.
func TestPluginThatIsClosedWaitsForTheStartOfAnInstance(t *testing.T) {
	pl := openWith(t, "endless_hook", Args{GuestConfig: "none", CallTimeout: Timeout{time.Hour}}, nil)
	p := inside(pl)
	for _, s := range p.pool.free {
		s.drop()
	}
	p.pool.settings.Config = "s"
	answered := make(chan *fwk.Status, 1)
	go func() {
		_, status := preFilter(t.Context(), pl, framework.NewCycleState(), pod("web"))
		answered <- status
	}()
	testkit.EventuallyHolds(t, "an instance is being started", func() bool { return runs(p, false) })
	testkit.Must(t, p.Close())
	testkit.Equal(t, said(testkit.EventuallyReceives(t, "the call ends", answered)), "Error: wasm: _start error: the guest is closed", "the call")
}

func TestStartedGuestCanBeClosed(t *testing.T) {
	instances.Reset()
	h := New(fromFiles)
	started, err := h.Start(t.Context(), t.Name(), Args{GuestURL: fileURLOf("permit")})
	testkit.Must(t, err)
	testkit.Must(t, started.Close())
	testkit.Equal(t, gathered(t)[`scheduler_wasm_guest_instances{plugin="`+t.Name()+`"}`], "0", "instances")
	testkit.Equal(t, len(h.guests), 0, "guests")
}
