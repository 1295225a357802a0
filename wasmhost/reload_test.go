package wasmhost

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// source is where a guest is, in any of its versions.
type source struct {
	mu    sync.Mutex
	wasm  []byte
	err   error // in place of it
	asked int   // for the version
}

func (s *source) put(wasm []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wasm, s.err = wasm, err
}

func (s *source) fetch(context.Context, Args) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wasm, s.err
}

// version knows none, so that the guest itself is asked for each time.
func (s *source) version(context.Context, Args) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return "", nil
}

func file(t *testing.T, guest string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(guests + guest + ".wasm")
	testkit.Must(t, err)
	return wasm
}

// letter is the guest of that letter.
func letter(t *testing.T, letter string) []byte {
	t.Helper()
	return bytes.Replace(file(t, "letter"), []byte("A is"), []byte(letter+" is"), 1)
}

// openSource makes a plugin whose guest comes from a source. Its tests reload when they want to.
func openSource(t *testing.T, first []byte, handle fwk.Handle) (*source, fwk.Plugin) {
	t.Helper()
	s := &source{wasm: first}
	h := New(Options{Fetch: s.fetch, Version: s.version})
	t.Cleanup(func() { h.Close() })
	pl, err := h.open(t.Context(), t.Name(), Args{GuestURL: "oci://guests/letter:1", Reload: Period{24 * time.Hour}, CallTimeout: Timeout{time.Minute}}, handle)
	testkit.Must(t, err)
	return s, pl
}

func renew(t *testing.T, pl fwk.Plugin) {
	t.Helper()
	_, err := unmask(pl).renew(t.Context(), "")
	testkit.Must(t, err)
}

func letters(pl fwk.Plugin, state fwk.CycleState) string {
	return pl.(fwk.FilterPlugin).Filter(context.Background(), state, pod("p"), node("n")).Message()
}

func TestAttemptEndsWithTheGuestThatItHasBegunWith(t *testing.T) {
	s, pl := openSource(t, letter(t, "A"), nil)
	before, after := framework.NewCycleState(), framework.NewCycleState()
	preFilter(t.Context(), pl, before, pod("p"))
	signed, _ := pl.(fwk.SignPlugin).SignPod(t.Context(), pod("p"))

	s.put(letter(t, "B"), nil)
	renew(t, pl)
	preFilter(t.Context(), pl, after, pod("p"))
	got := []string{letters(pl, before), letters(pl, after), letters(pl, before.Clone())}
	for _, state := range []fwk.CycleState{before, after} {
		got = append(got, pl.(fwk.PreBindPlugin).PreBind(t.Context(), state, pod("p"), "n").Message())
	}
	if fmt.Sprint(got) != "[AA BB AA AA BB]" {
		t.Error(got)
	}
	now, _ := pl.(fwk.SignPlugin).SignPod(t.Context(), pod("p"))
	if len(signed) > 0 && fmt.Sprint(signed) == fmt.Sprint(now) {
		t.Error("pods of both guests are signed alike:", now)
	}

	series := func(g *guest) string {
		return fmt.Sprintf("scheduler_wasm_guest_info{digest=%q,plugin=%q}", g.digest, t.Name())
	}
	data, _ := before.Read(unmask(pl).key)
	old, metrics := data.(*cycle).guest, gathered(t)
	_, there := metrics[series(old)]
	if there || metrics[series(inside(pl))] != "1" || metrics[`scheduler_wasm_guest_reloads_total{plugin="`+t.Name()+`",result="success"}`] != "1" {
		t.Error(metrics)
	}
}

// What is the same is not started again.
func TestGuestThatHasNotChangedStays(t *testing.T) {
	_, pl := openSource(t, letter(t, "A"), nil)
	first := inside(pl)
	renew(t, pl)
	if inside(pl) != first {
		t.Error("it was replaced by itself")
	}
	h := first.host
	h.options.Version = func(context.Context, Args) (string, error) { return "v1", nil }
	h.options.Fetch = func(context.Context, Args) ([]byte, error) { return nil, errors.New("fetched") }
	version, err := unmask(pl).renew(t.Context(), "v1")
	if version != "v1" || err != nil {
		t.Error(version, err)
	}
}

func TestReloadThatFailsChangesNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		first string
		then  []byte
		err   error
		want  string
	}{
		"no guest":          {then: []byte("<html></html>"), want: "guest is refused"},
		"a slow server":     {err: errors.New("not fetched within 10s"), want: "not fetched within 10s"},
		"a start that ends": {then: file(t, "start_trap"), want: "unreachable"},
		"a refused config":  {then: file(t, "config_refused"), want: "guestConfig: unknown field"},
		"another hook": {then: file(t, "filter_score"),
			want: "it exports one of [score], and the guest that the scheduler has started with none of them: this needs a restart of the scheduler"},
		"more events": {first: "patient", then: file(t, "filter_allow"),
			want: "it waits for events of Pod that the guest that the scheduler has started with does not wait for: this needs a restart of the scheduler"},
	} {
		t.Run(name, func(t *testing.T) {
			s, pl := openSource(t, file(t, cmp.Or(tt.first, "letter")), nil)
			runs := inside(pl)
			s.put(tt.then, tt.err)
			_, err := unmask(pl).renew(t.Context(), "")
			testkit.ErrorHas(t, err, tt.want)
			testkit.ErrorHas(t, err, "plugin "+t.Name()+": guest oci://guests/letter:1: ")
			if inside(pl) != runs || len(runs.host.guests) != 1 || runs.pool.closed.Load() {
				t.Errorf("replaced: %v; %d guests are open; closed: %v", inside(pl) != runs, len(runs.host.guests), runs.pool.closed.Load())
			}
		})
	}
}

func TestReloadThatFailsAgainIsReportedOnce(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "kube-system")
	t.Setenv("POD_NAME", "scheduler-0")
	h := &handle{}
	s, pl := openSource(t, letter(t, "A"), h)
	ctx, cancel := context.WithCancel(t.Context())
	inside(pl).host.options.Version = func(context.Context, Args) (string, error) {
		s.asked++
		if s.asked == 6 {
			cancel()
		}
		s.put(nil, fmt.Errorf("not served, %d", s.asked/3))
		return "", nil
	}
	unmask(pl).reload(ctx, time.Millisecond)
	want := "[GuestNotReplaced, Reload, plugin % 0 GuestNotReplaced, Reload, plugin % 1]"
	got := strings.ReplaceAll(fmt.Sprint(h.events), t.Name()+": guest oci://guests/letter:1: not served,", "%")
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// opened waits until a host has no more guests than that.
func opened(t *testing.T, h *Host, most int) {
	t.Helper()
	n := 0
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		runtime.GC() // which finds out that an attempt is over
		h.mu.Lock()
		n = len(h.guests)
		h.mu.Unlock()
		if n <= most {
			return
		}
	}
	t.Errorf("%d guests are open, want %d", n, most)
}

func TestGuestIsClosedAfterItsLastAttempt(t *testing.T) {
	s, pl := openSource(t, letter(t, "A"), nil)
	first := inside(pl)
	state := framework.NewCycleState()
	preFilter(t.Context(), pl, state, pod("p"))
	s.put(letter(t, "B"), nil)
	renew(t, pl)
	for range 3 {
		runtime.GC()
	}
	if got := letters(pl, state); got != "AA" || first.pool.closed.Load() {
		t.Error("closed with an attempt under way:", got)
	}
	opened(t, first.host, 1)
	if !first.pool.closed.Load() || inside(pl).pool.closed.Load() {
		t.Error("another guest was closed")
	}
	testkit.Must(t, unmask(pl).Close())
	opened(t, first.host, 0)
}

// Attempts on four goroutines, as many as there are while the guest changes 300 times: each has one letter only.
func TestNoAttemptMixesGuests(t *testing.T) {
	s, pl := openSource(t, letter(t, "A"), nil)
	var done atomic.Bool
	var attempts, mixed atomic.Int64
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for !done.Load() {
				state := framework.NewCycleState()
				preFilter(t.Context(), pl, state, pod("p"))
				first := letters(pl, state)
				again := letters(pl, state.Clone())
				bound := pl.(fwk.PreBindPlugin).PreBind(t.Context(), state, pod("p"), "n").Message()
				attempts.Add(1)
				if len(first) != 2 || first[0] != first[1] || again != first || bound != first {
					mixed.Add(1)
					t.Errorf("an attempt was answered with %q, %q and %q", first, again, bound)
					return
				}
			}
		})
	}
	for i := range 300 {
		s.put(letter(t, string(rune('A'+(i+1)%26))), nil)
		renew(t, pl)
	}
	done.Store(true)
	running.Wait()
	t.Logf("%d attempts during 300 reloads", attempts.Load())
	opened(t, inside(pl).host, 1)
}

func TestClosedPluginGetsNoGuest(t *testing.T) {
	s, pl := openSource(t, letter(t, "A"), nil)
	testkit.Must(t, unmask(pl).Close())
	s.put(letter(t, "B"), nil)
	_, err := unmask(pl).renew(t.Context(), "")
	if !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	opened(t, inside(pl).host, 0)
}
