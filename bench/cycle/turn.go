package cycle

import (
	"runtime"
	"time"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// turn is what a door does in one case.
type turn struct {
	entrant *entrant
	pods    []*v1.Pod
	next    int // pod
	buffer  []string
	cycles  int // in a batch
	rounds  int // for which there is time
	warm    bool
	bytes   sample.Sample
	allocs  sample.Sample
	result  Result
}

// newTurn checks and warms a door up, and finds out how many cycles fill a
// batch. It returns nil if the door has no part in the case.
func newTurn(plan Plan, e *entrant, c work.Case, part Part, pods []*v1.Pod) (*turn, error) {
	if !e.hasPart(part) {
		return nil, nil
	}
	if plan.Skip > 0 && e.cycle > plan.Skip {
		return nil, nil
	}
	wrong, err := e.check(c)
	if err != nil {
		return nil, err
	}
	t := &turn{entrant: e, pods: pods, buffer: make([]string, 0, len(e.cluster.Nodes))}
	t.result = Result{Door: e.door.Name, Case: c.Name, Nodes: len(e.cluster.Nodes), Part: part, Wrong: wrong}
	if wrong != "" && e.door.Role == door.Ours {
		return nil, errWrong(wrong)
	}
	one, err := t.calibrate(plan.Batch)
	t.rounds = min(plan.Rounds, max(1, int(plan.Limit/max(one, plan.Batch))))
	t.warm = t.rounds == plan.Rounds
	if e.cycle == 0 {
		e.cycle = one
	}
	return t, err
}

type errWrong string

func (e errWrong) Error() string { return "wrong: " + string(e) }

// calibrate doubles the number of cycles until they take a fraction of a batch.
func (t *turn) calibrate(batch time.Duration) (one time.Duration, err error) {
	for n := 1; ; n *= 2 {
		cpu := cpuTime()
		if _, err := t.run(n); err != nil {
			return 0, err
		}
		took := cpuTime() - cpu
		one = took / time.Duration(n)
		if took > batch/8 || n > 1<<20 {
			t.cycles = max(1, int(batch/max(one, 1)))
			return one, nil
		}
	}
}

// run runs n cycles.
func (t *turn) run(n int) (time.Duration, error) {
	began := time.Now()
	for range n {
		if err := t.once(); err != nil && t.result.Wrong == "" {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func (t *turn) once() (err error) {
	switch s := t.entrant.session; t.result.Part {
	case PreFilter:
		s.(door.PreFilterer).PreFilter(t.pod())
	case Shared:
		err = s.(door.Sharer).CycleAmong(runtime.GOMAXPROCS(0), t.pod())
	default:
		_, err = s.Cycle(t.pod(), t.buffer[:0])
	}
	return err
}

func (t *turn) pod() *v1.Pod {
	t.next = (t.next + 1) % len(t.pods)
	return t.pods[t.next]
}

// batch runs a batch. Its first cycle does not count: it finds the nodes in no
// cache, which a scheduler's other plugins would have brought there.
func (t *turn) batch() error {
	var before, after runtime.MemStats
	t.entrant.sweeper.sweep()
	if t.warm {
		if _, err := t.run(1); err != nil {
			return err
		}
	}
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	took, err := t.run(t.cycles)
	cpu = cpuTime() - cpu
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	n := float64(t.cycles)
	t.result.Time = append(t.result.Time, float64(cpu)/n)
	t.result.Wall = append(t.result.Wall, float64(took)/n)
	t.result.Cycles = append(t.result.Cycles, t.cycles)
	t.bytes = append(t.bytes, float64(after.TotalAlloc-before.TotalAlloc)/n)
	t.allocs = append(t.allocs, float64(after.Mallocs-before.Mallocs)/n)
	return nil
}

// done is the result of all batches.
func (t *turn) done() Result {
	r := t.result
	r.Filtered = t.entrant.session.Filtered()
	r.Bytes, r.Allocs = t.bytes.Median(), t.allocs.Median()
	if g, ok := t.entrant.session.(door.Guest); ok {
		r.Memory = g.Memory()
	}
	return r
}
