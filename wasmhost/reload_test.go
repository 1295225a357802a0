package wasmhost

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// origin is where a guest is, in any of its versions.
type origin struct {
	mu    sync.Mutex
	wasm  []byte
	err   error // in place of it
	asked int
}

func (s *origin) put(wasm []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wasm, s.err = wasm, err
}

// fetch is the FetchNew of a source without versions.
func (s *origin) fetch(context.Context, Args, string) ([]byte, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.wasm, "", s.err
}

func file(t *testing.T, guest string) []byte {
	t.Helper()
	wasm := testkit.ReadFile(t, guests+guest+".wasm")
	return wasm
}

// letter is the guest of that letter.
func letter(t *testing.T, letter string) []byte {
	t.Helper()
	return bytes.Replace(file(t, "letter"), []byte("A is"), []byte(letter+" is"), 1)
}

// openPlace makes a plugin whose guest comes from a source. Its tests reload when they want to.
func openPlace(t *testing.T, first []byte, handle fwk.Handle) (*origin, fwk.Plugin) {
	t.Helper()
	s := &origin{wasm: first}
	h := New(Options{FetchNew: s.fetch})
	t.Cleanup(func() { h.Close() })
	pl, err := h.open(t.Context(), t.Name(), Args{GuestURL: "oci://guests/letter:1", Reload: Period{24 * time.Hour}, CallTimeout: Timeout{time.Minute}}, handle)
	testkit.Must(t, err)
	return s, pl
}

func renew(t *testing.T, pl fwk.Plugin) {
	t.Helper()
	testkit.Must(t, unmask(pl).renew(t.Context(), &source{}))
}

func letters(pl fwk.Plugin, state fwk.CycleState) string {
	return pl.(fwk.FilterPlugin).Filter(context.Background(), state, pod("p"), node("n")).Message()
}

func TestAttemptEndsWithTheGuestThatItHasBegunWith(t *testing.T) {
	reloads.Reset()
	s, pl := openPlace(t, letter(t, "A"), nil)
	before, after := framework.NewCycleState(), framework.NewCycleState()
	preFilter(t.Context(), pl, before, pod("p"))

	s.put(letter(t, "B"), nil)
	renew(t, pl)
	preFilter(t.Context(), pl, after, pod("p"))
	got := []string{letters(pl, before), letters(pl, after), letters(pl, before.Clone())}
	for _, state := range []fwk.CycleState{before, after} {
		got = append(got, pl.(fwk.PreBindPlugin).PreBind(t.Context(), state, pod("p"), "n").Message())
	}
	testkit.Equal(t, fmt.Sprint(got), "[AA BB AA AA BB]", "what the guests answer")
	series := func(g *guest) string {
		return fmt.Sprintf("scheduler_wasm_guest_info{digest=%q,plugin=%q}", g.digest, t.Name())
	}
	data, _ := before.Read(unmask(pl).key)
	old, metrics := data.(*cycle).guest, gathered(t)
	_, there := metrics[series(old)]
	testkit.Equal(t, there, false, "the old guest is there")
	testkit.Equal(t, metrics[series(inside(pl))], "1", "the new one")
	testkit.Equal(t, counted(t, reloads, "success"), 1, "reloads")
}

// What is the same is not started again.
func TestGuestThatHasNotChangedStays(t *testing.T) {
	_, pl := openPlace(t, letter(t, "A"), nil)
	first := inside(pl)
	renew(t, pl)
	if inside(pl) != first {
		t.Error("it was replaced by itself")
	}
	var given []string
	first.host.options.FetchNew = func(_ context.Context, _ Args, version string) ([]byte, string, error) {
		given = append(given, version)
		if version == "v1" {
			return nil, "v1", nil
		}
		return letter(t, "A"), "v1", nil
	}
	var of source
	for range 3 {
		testkit.Must(t, unmask(pl).renew(t.Context(), &of))
	}
	testkit.Equal(t, given, []string{"", "v1", "v1"}, "the versions that are given")
	if inside(pl) != first {
		t.Error("it was replaced by another version of itself")
	}
}

// A pod is signed when it is queued, and another guest may be there when it is tried.
func TestGuestThatMayBeReplacedSignsNothing(t *testing.T) {
	_, pl := openPlace(t, file(t, "decides_by"), nil)
	fragments, status := pl.(fwk.SignPlugin).SignPod(t.Context(), pod("p"))
	if fragments != nil || status.IsSuccess() || !strings.Contains(status.Message(), "reload") {
		t.Error(fragments, status)
	}
}

// The scheduler has registered the hints of the first guest, which is asked about the others' pods, too.
func TestHintsAreOfTheGuestThatIsThere(t *testing.T) {
	s, pl := openPlace(t, file(t, "letter"), nil)
	events, err := pl.(fwk.EnqueueExtensions).EventsToRegister(t.Context())
	testkit.Must(t, err)
	hint := func() fwk.QueueingHint {
		for _, e := range events {
			if e.Event.Resource == fwk.Node {
				hint, err := e.QueueingHintFn(klog.Background(), pod("p"), &v1.Node{}, &v1.Node{})
				testkit.Must(t, err)
				return hint
			}
		}
		return -1
	}
	before := hint()
	s.put(file(t, "decides_by"), nil)
	renew(t, pl)
	testkit.Equal(t, []fwk.QueueingHint{before, hint()}, []fwk.QueueingHint{fwk.Queue, fwk.QueueSkip}, "the hints")
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
		"a start that ends": {then: file(t, "../../abi/start_trap"), want: "unreachable"},
		"a refused config":  {then: file(t, "config_refused"), want: "guestConfig: unknown field"},
		"another hook": {
			then: file(t, "filter_score"),
			want: "it exports one of [score], and the guest that the scheduler has started with none of them: this needs a restart of the scheduler",
		},
		"more events": {
			first: "patient", then: file(t, "filter_allow"),
			want: "it waits for events of Pod that the guest that the scheduler has started with does not wait for: this needs a restart of the scheduler",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, pl := openPlace(t, file(t, cmp.Or(tt.first, "letter")), nil)
			runs := inside(pl)
			s.put(tt.then, tt.err)
			err := unmask(pl).renew(t.Context(), &source{})
			testkit.ErrorHas(t, err, tt.want)
			testkit.ErrorHas(t, err, "plugin "+t.Name()+": guest oci://guests/letter:1: ")
			if inside(pl) != runs || len(runs.host.guests) != 1 || runs.pool.closed.Load() {
				t.Errorf("replaced: %v; %d guests are open; closed: %v", inside(pl) != runs, len(runs.host.guests), runs.pool.closed.Load())
			}
		})
	}
}

func TestReloadThatFailsAgainIsReportedOnce(t *testing.T) {
	reloads.Reset()
	t.Setenv("POD_NAMESPACE", "kube-system")
	t.Setenv("POD_NAME", "scheduler-0")
	h := &handle{}
	s, pl := openPlace(t, letter(t, "A"), h)
	of := source{said: sets.New[string]()}
	for n, why := range []string{"reset by :123", "reset by :45", "gone", "gone", strings.Repeat("long", 500)} {
		s.put(nil, errors.New(why))
		unmask(pl).look(t.Context(), &of)
		testkit.Equal(t, len(h.effects), []int{1, 1, 2, 2, 3}[n], "events after %.20s: %q", why, h.effects)
	}
	testkit.Equal(t, gathered(t)[`scheduler_wasm_guest_reload_successful{plugin="`+t.Name()+`"}`], "0", "whether the last look was all right")
	testkit.Equal(t, gathered(t)[`scheduler_wasm_guest_reloads_total{plugin="`+t.Name()+`",result="failure"}`], "5", "failures")
	s.put(letter(t, "A"), nil)
	unmask(pl).look(t.Context(), &of)
	testkit.Equal(t, gauge(t, reloadSuccessful), 1, "whether the last look was all right")
	const before, after = "event Warning GuestNotReplaced Reload: ", ", of v1/Pod/kube-system/scheduler-0//, "
	testkit.Equal(t, h.effects[0], before+"plugin "+t.Name()+": guest oci://guests/letter:1: reset by :123"+after, "the event")
	if note := len(h.effects[2]) - len(before+after); note > 1024 {
		t.Errorf("the API server takes no note of %d bytes", note)
	}
}

// The source has a guest that does not start. It is tried at looks 1, 3, 7, 15 and 31, and another one at once.
func TestRefusedGuestIsTriedMoreAndMoreRarely(t *testing.T) {
	s, pl := openPlace(t, letter(t, "A"), nil)
	traps := file(t, "../../abi/start_trap")
	s.put(traps, nil)
	var of source
	tried := 0
	skipped := func() int {
		if r := of.refused[of.last]; r != nil {
			return r.skipped
		}
		return 0
	}
	for look := range 32 {
		before := skipped()
		err := unmask(pl).renew(t.Context(), &of)
		testkit.ErrorHas(t, err, "unreachable")
		if skipped() != before {
			tried++
			t.Log("tried at look", look+1)
		}
	}
	testkit.Equal(t, tried, 5, "how often it is tried")
	other := append(slices.Clip(traps), 0, 1, 0) // with a section that has no name and no content: another digest
	for look := range 8 {                        // it is tried at the first, the third and the seventh
		s.put([][]byte{other, traps}[look%2], nil)
		testkit.ErrorHas(t, unmask(pl).renew(t.Context(), &of), "unreachable")
	}
	testkit.Equal(t, of.refused[sha256.Sum256(other)].skipped, 7, "looks that are skipped beside another one")
	s.put(letter(t, "B"), nil)
	testkit.Must(t, unmask(pl).renew(t.Context(), &of))
}

func TestPanicOfASourceIsAFailure(t *testing.T) {
	_, pl := openPlace(t, letter(t, "A"), nil)
	inside(pl).host.options.FetchNew = func(context.Context, Args, string) ([]byte, string, error) { panic("no server") }
	testkit.ErrorHas(t, unmask(pl).renewOrPanic(t.Context(), &source{}), "panic: no server")
}

// The ticker of a plugin looks again and again, until the plugin is closed.
func TestReloadEndsWithThePlugin(t *testing.T) {
	s, pl := openPlace(t, letter(t, "A"), nil)
	ctx, cancel := context.WithCancel(t.Context())
	s.put(letter(t, "B"), nil)
	inside(pl).host.options.FetchNew = func(ctx context.Context, args Args, version string) ([]byte, string, error) {
		if s.asked > 3 {
			cancel()
		}
		return s.fetch(ctx, args, version)
	}
	unmask(pl).reload(ctx, time.Millisecond)
	testkit.Equal(t, schedule(t.Context(), pl, pod("p"), "n")[0].Message(), "BB", "the answer")
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
	s, pl := openPlace(t, letter(t, "A"), nil)
	first := inside(pl)
	state := framework.NewCycleState()
	preFilter(t.Context(), pl, state, pod("p"))
	s.put(letter(t, "B"), nil)
	renew(t, pl)
	for range 3 {
		runtime.GC()
	}
	testkit.Equal(t, letters(pl, state), "AA", "the answer")
	testkit.Equal(t, first.pool.closed.Load(), false, "closed with an attempt under way")
	opened(t, first.host, 1)
	if !first.pool.closed.Load() || inside(pl).pool.closed.Load() {
		t.Error("another guest was closed")
	}
	testkit.Must(t, unmask(pl).Close())
	opened(t, first.host, 0)
}

// Each guest has an attempt that is not over.
func TestNewGuestWaitsWhereManyAreOpen(t *testing.T) {
	testkit.OnOneMinor(t)
	s, pl := openPlace(t, letter(t, "A"), nil)
	var states []fwk.CycleState
	var err error
	for n := range 3 {
		state := framework.NewCycleState()
		preFilter(t.Context(), pl, state, pod("p"))
		states = append(states, state)
		s.put(letter(t, string(rune('B'+n))), nil)
		err = unmask(pl).renew(t.Context(), &source{})
		if n < maxBefore {
			testkit.Must(t, err)
		}
	}
	testkit.ErrorHas(t, err, "2 guests before this one still have attempts")
	if got := fmt.Sprint(letters(pl, states[0]), letters(pl, states[1]), letters(pl, states[2])); got != "AABBCC" && got != "AA BB CC" {
		t.Error(got)
	}
	clear(states)
	opened(t, inside(pl).host, 1)
	renew(t, pl)
	testkit.Equal(t, schedule(t.Context(), pl, pod("p"), "n")[0].Message(), "DD", "the answer")
}

// Attempts on four goroutines, as many as there are while the guest changes 25 times: each has one letter only.
func TestNoAttemptMixesGuests(t *testing.T) {
	testkit.OnOneMinor(t)
	s, pl := openPlace(t, letter(t, "A"), nil)
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
	for i := range 25 {
		opened(t, inside(pl).host, maxBefore) // or the next one has to wait
		s.put(letter(t, string(rune('A'+(i+1)%26))), nil)
		renew(t, pl)
	}
	done.Store(true)
	running.Wait()
	t.Logf("%d attempts during 25 reloads", attempts.Load())
	opened(t, inside(pl).host, 1)
}

func TestClosedPluginGetsNoGuest(t *testing.T) {
	for name, end := range map[string]func(fwk.Plugin) error{
		"plugin": func(pl fwk.Plugin) error { return unmask(pl).Close() },
		"host":   func(pl fwk.Plugin) error { return inside(pl).host.Close() },
	} {
		s, pl := openPlace(t, letter(t, "A"), nil)
		s.put(letter(t, "B"), nil)
		h := inside(pl).host
		m, err := h.get(t.Context(), "p", inside(pl).args, "")
		testkit.Must(t, err)
		g, err := h.run(t.Context(), "p", inside(pl).args, m)
		testkit.Must(t, err)
		testkit.Must(t, end(pl))
		err = unmask(pl).replace(g)
		testkit.ErrorIs(t, err, ErrClosed)
		opened(t, h, 0)
		if !g.pool.closed.Load() || g.used.Load() {
			t.Errorf("%s: the guest was not closed, or counts as used", name)
		}
	}
}

// The one who has started a guest may keep it: the guest goes all the same when another has taken its place.
func TestStartedKeepsNoGuestBefore(t *testing.T) {
	s := &origin{wasm: letter(t, "A")}
	h := New(Options{FetchNew: s.fetch})
	t.Cleanup(func() { h.Close() })
	started, err := h.Start(t.Context(), t.Name(), Args{GuestURL: "file://guest.wasm", Reload: Period{24 * time.Hour}, CallTimeout: Timeout{time.Minute}})
	testkit.Must(t, err)
	pl := started.Plugin(t.Context(), nil)
	s.put(letter(t, "B"), nil)
	renew(t, pl)
	opened(t, h, 1)
	testkit.Equal(t, started.Describe().SHA256, inside(pl).sha256, "the guest that is described")
	testkit.Must(t, started.Close())
	opened(t, h, 0)
}
