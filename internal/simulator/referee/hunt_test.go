package referee_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/scenarios"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// TestHunt has the engine and a live cluster answer as many generated cases as HUNT says, from the one of SEED on,
// and writes each that they differ in to the folder FOUND, as small as it gets. "make hunt" runs it.
func TestHunt(t *testing.T) {
	cases := number(t, "HUNT", 0)
	if cases == 0 {
		t.Skip("HUNT=200 compares 200 cases")
	}
	h := &hunter{referee: start(t), scratch: t.TempDir()}
	h.patience, h.settled = time.Minute, 2*time.Second
	counts := map[string]int{}
	for seed := number(t, "SEED", 1); counts["same"]+counts["differs"] < cases; seed++ {
		c := generate(uint64(seed))
		began := time.Now()
		found := h.compare(t.Context(), c)
		counts[found.verdict]++
		t.Logf("seed %d: %v: %s (%.1f s)", seed, at(object(c), "change")["ask"], found.verdict, time.Since(began).Seconds())
		if found.verdict == "invalid" {
			t.Logf("%v", found.err)
		}
		if found.verdict != "differs" {
			continue
		}
		report(t, fmt.Sprintf("seed-%d-whole", seed), c, found)
		c = h.shrink(t.Context(), c, found)
		report(t, fmt.Sprintf("seed-%d", seed), c, h.compare(t.Context(), c))
	}
	t.Logf("%v", counts)
}

func number(t *testing.T, variable string, without int) int {
	text := os.Getenv(variable)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// report writes a case as a scenario that expects what the live cluster comes to.
func report(t *testing.T, name string, c huntCase, f found) {
	c.Expect(f.live)
	text := fmt.Sprintf("# predicted:\n#   %s\n# live:\n#   %s\n# %v\n%s", strings.Join(f.predicted, "\n#   "), strings.Join(f.live, "\n#   "), f.err, c.Text())
	t.Errorf("%s:\n%s", name, text)
	folder := os.Getenv("FOUND")
	if folder == "" {
		return
	}
	testkit.Must(t, errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(text), 0o644)))
	if f.before != nil {
		var cluster bytes.Buffer
		testkit.Must(t, errors.Join(f.before.WriteYAML(&cluster), os.WriteFile(filepath.Join(folder, name+"-cluster.yaml"), cluster.Bytes(), 0o644)))
	}
}

type hunter struct {
	*referee
	scratch string // a folder
}

type found struct {
	// verdict is "same", "differs", "chance" if the engine says that the outcome depends on it, "unsteady" if the live
	// cluster does, or "invalid" for no case.
	verdict         string
	predicted, live []string
	err             error              // of a live cluster that does not come to rest, or of a case that is invalid
	before          *snapshot.Snapshot // what a command was asked about
}

// compare asks the engine first, several times: of a case that leaves a choice there is nothing to compare. The parts
// of a change are made one after the other, each when nothing more comes of the one before.
func (h *hunter) compare(ctx context.Context, c huntCase) (f found) {
	if at(object(c), "change")["ask"] != nil {
		return h.compareAsked(ctx, c)
	}
	for i, variant := range []huntCase{c, c.Reversed(), c, c.Reversed()} {
		lines, err := predicted(ctx, variant, uint64(i+1), i != 2)
		if err != nil {
			return found{verdict: "invalid", err: err}
		}
		if i > 0 && !slices.Equal(lines, f.predicted) {
			return found{verdict: "chance"}
		}
		f.predicted = lines
	}
	var entered bool
	f.live, entered, f.err = h.live(ctx, c, f.predicted)
	f.live = c.lasting(f.live)
	switch {
	case !entered:
		f.verdict = "invalid"
	case f.err == nil && slices.Equal(f.live, c.lasting(f.predicted)):
		f.verdict = "same"
	default:
		f.verdict = "differs"
		for seed := uint64(5); seed <= 16; seed++ { // of two pods that are alike, four seeds choose the same one in an eighth of cases
			lines, err := predicted(ctx, c, seed, true)
			if err != nil || !slices.Equal(lines, f.predicted) {
				return found{verdict: "chance"}
			}
		}
		again, _, err := h.live(ctx, c, f.predicted)
		if !slices.Equal(c.lasting(again), f.live) || (err == nil) != (f.err == nil) {
			f.verdict = "unsteady"
		}
	}
	f.predicted = c.lasting(f.predicted)
	return f
}

// lasting omits what preemption said of a pending pod: of which victims there were when it was last tried, and live that
// depends on how fast kubelets end others. After an eviction it omits why a pod is pending, too: live, one that was pending before is tried
// while there is no successor yet.
func (c huntCase) lasting(lines []string) (cut []string) {
	until := " preemption: "
	if at(object(c), "change")["evict"] != nil {
		until = " pending: "
	}
	for _, line := range lines {
		before, _, _ := strings.Cut(line, until)
		cut = append(cut, before)
	}
	return cut
}

func (h *hunter) live(ctx context.Context, c huntCase, predicted []string) (lines []string, entered bool, err error) {
	s, err := c.Scenario()
	if err != nil {
		return nil, false, err
	}
	err = attempted(ctx, func(t scenarios.T) {
		h.reset(t, s)
		h.rest(t, s)
		entered = true
		s.Each = func() { h.rest(t, s) }
		lines = h.change(t, s, predicted)
	})
	return lines, entered, err
}

// shrinkTime is what a case gets to be made smaller.
const shrinkTime = 2 * time.Minute

// shrink makes a case smaller as long as it differs in the same kind of thing.
func (h *hunter) shrink(ctx context.Context, c huntCase, as found) huntCase {
	until := time.Now().Add(shrinkTime)
	return shrunk(c, func(smaller huntCase) bool {
		if time.Now().After(until) {
			return false
		}
		f := h.compare(ctx, smaller)
		return f.verdict == "differs" && slices.Equal(f.kind(), as.kind())
	})
}

// kind is what pods are in the prediction alone, and live alone, such as "predicted: pending".
func (f found) kind() (all []string) {
	of := func(where string, lines, others []string) {
		for _, line := range lines {
			if !slices.Contains(others, line) {
				all = append(all, where+strings.Fields(line)[1])
			}
		}
	}
	of("predicted: ", f.predicted, f.live)
	of("live: ", f.live, f.predicted)
	if f.err != nil {
		all = append(all, "no rest")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// predicted is what the engine comes to. Eagerly it goes on after each request of the change, otherwise after all.
func predicted(ctx context.Context, c huntCase, seed uint64, eagerly bool) (lines []string, err error) {
	s, err := c.Scenario()
	if err != nil {
		return nil, err
	}
	wrong := attempted(ctx, func(t scenarios.T) { lines, err = predict(t, s, seed, eagerly) })
	return lines, errors.Join(wrong, err)
}

func predict(t scenarios.T, s *scenarios.Scenario, seed uint64, eagerly bool) ([]string, error) {
	text, err := simulator.SchedulerConfig(s.Config)
	if err != nil {
		return nil, err
	}
	config, err := kubescheduler.Read(text)
	if err != nil {
		return nil, err
	}
	in := s.Cluster(t)
	for i := range in.Pods { // of pods as old as others, controllers delete some by their UIDs, which live are random
		pod := &in.Pods[i]
		pod.UID = cmp.Or(pod.UID, types.UID(fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, seed, pod.Name)))))
	}
	e, err := engine.New(t.Context(), engine.Options{Config: config, Cluster: in, Seed: seed, Workloads: engine.Workloads})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	run := func() { err = errors.Join(err, e.Run(t.Context())) }
	run()
	if eagerly {
		s.Each = run
	}
	s.Change(t, e.Cluster.Config)
	run()
	var evictions scenarios.Evictions
	for gone := 1; gone > 0 && err == nil; run() {
		if gone, err = evictions.Go(t.Context(), s, e.Cluster.Client); err != nil {
			return nil, err
		}
	}
	return scenarios.Lines(cluster.All[*v1.Pod](e.Cluster), evictions.Kept), err
}

// attempt is a scenarios.T whose end is an error.
type attempt struct{ ctx context.Context }

type failure struct{ error }

func (a attempt) Helper()                      {}
func (a attempt) Context() context.Context     { return a.ctx }
func (a attempt) Fatal(args ...any)            { panic(failure{errors.New(fmt.Sprint(args...))}) }
func (a attempt) Fatalf(f string, args ...any) { panic(failure{fmt.Errorf(f, args...)}) }
func (a attempt) Errorf(f string, args ...any) { a.Fatalf(f, args...) }

func attempted(ctx context.Context, do func(scenarios.T)) (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case failure:
			err = cause.error
		default: // of the engine, of which a case that is made smaller may have more than the one that it was made of
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	do(attempt{ctx})
	return nil
}
