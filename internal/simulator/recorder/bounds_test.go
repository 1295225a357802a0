package recorder

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

var testLayout = &layout{
	scheduler: "default-scheduler", preFilter: []string{"A"},
	columns: []Column{{Name: "A"}, {Name: "B"}}, column: map[string]int{"A": 0, "B": 1},
}

func newTestUniverse(n int) *universe {
	u := &universe{names: make([]string, n)}
	for i := range u.names {
		u.names[i] = fmt.Sprintf("node-%05d", i)
	}
	return u
}

// record keeps an attempt of which verdict(i) is said of node i.
func (r *Recorder) record(pod string, u *universe, verdict func(i int) group) *record {
	rec := &record{pod: types.NamespacedName{Namespace: "ns", Name: pod}, uid: types.UID(pod), layout: testLayout, result: Unschedulable}
	rec.preFilter.failed = -1
	r.add(rec)
	p := packer{layout: testLayout, universe: u}
	for i := range u.names {
		p.add(int32(i), verdict(i))
	}
	r.pack(rec, p.details(nil))
	return rec
}

// halves says of every other node that it failed, and why.
func halves(i int) group {
	if i%2 == 0 {
		return group{verdict: Rejected, column: 1, reason: "even"}
	}
	return group{verdict: Passed, column: -1}
}

func TestOldAttemptsOfAPodMakeRoom(t *testing.T) {
	r := newRecorder(limits{perPod: 3, attempts: 100, bytes: 1 << 20})
	u := newTestUniverse(10)
	for range 5 {
		r.record("p", u, halves)
	}
	attempts := r.Attempts("ns", "p")
	if len(attempts) != 3 || attempts[0].Number != 5 || attempts[2].Number != 3 || r.order.Len() != 3 || r.packed.Len() != 3 {
		t.Errorf("got %+v", attempts)
	}
}

func TestAttemptsOfAllPodsMakeRoom(t *testing.T) {
	r := newRecorder(limits{perPod: 3, attempts: 10, bytes: 1 << 20})
	u := newTestUniverse(10)
	for i := range 25 {
		r.record(fmt.Sprint(i), u, halves)
	}
	if len(r.pods) != 10 || r.order.Len() != 10 || r.packed.Len() != 10 || len(r.Attempts("ns", "14")) != 0 || len(r.Attempts("ns", "15")) != 1 {
		t.Errorf("%d pods are left, in %d attempts, %d with rows", len(r.pods), r.order.Len(), r.packed.Len())
	}
}

func TestRowsMakeRoomAndTheSummaryStays(t *testing.T) {
	r := newRecorder(limits{perPod: 20, attempts: 1000, bytes: 100 << 10})
	for i := range 200 {
		r.record(fmt.Sprint(i), newTestUniverse(100), func(i int) group {
			return group{verdict: Rejected, column: 0, reason: fmt.Sprint("a reason of its own ", i)}
		})
		if r.bytes > 100<<10 {
			t.Fatalf("%d bytes after %d attempts", r.bytes, i)
		}
	}
	first, last := r.Attempts("ns", "0")[0], r.Attempts("ns", "199")[0]
	if !first.Dropped || len(first.Nodes()) != 0 || first.Result != Unschedulable {
		t.Errorf("the first is %+v", first)
	}
	if last.Dropped || len(last.Nodes()) != 100 || last.Columns[0].Failed != 100 {
		t.Errorf("the last is %+v", last)
	}
	r.Reset()
	if r.bytes != 0 || len(r.pods) != 0 {
		t.Errorf("after a reset %d bytes are left", r.bytes)
	}
}

// TestALargeClusterFits is the promise: an attempt for each of 5,000 pods on
// 1,000 nodes keeps its rows.
func TestALargeClusterFits(t *testing.T) {
	r := New()
	u := newTestUniverse(1000)
	before := heap()
	for i := range 5000 {
		r.record(fmt.Sprint(i), u, halves)
	}
	took := heap() - before
	t.Logf("5,000 attempts on 1,000 nodes: %d KiB counted, %d KiB of heap", r.bytes>>10, took>>10)
	if r.Attempts("ns", "0")[0].Dropped || took > MaxBytes {
		t.Error("they don't fit")
	}
	runtime.KeepAlive(r)
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestRowsComeInTheOrderOfNeed(t *testing.T) {
	r := New()
	r.record("p", newTestUniverse(6), func(i int) group {
		return []group{
			{verdict: Passed, column: -1},
			{verdict: NotRun, column: -1},
			{verdict: Rejected, column: 1, reason: "b"},
			{verdict: Rejected, column: 0, reason: "a"},
			{verdict: Errored, column: 1, reason: "e"},
			{verdict: LeftOut, column: 0, reason: "l"},
		}[i]
	})
	a, _ := r.Last("ns", "p")
	var got []string
	for _, row := range a.Nodes() {
		cells := fmt.Sprint(a.Cell(row, 0), "+", a.Cell(row, 1))
		got = append(got, strings.TrimPrefix(row.Node, "node-0000")+" "+cells+" "+row.Reason)
	}
	want := "4 Passed+Error e; 3 Failed+NotRun a; 2 Passed+Failed b; 5 LeftOut+NotRun l; 0 Passed+Passed ; 1 NotRun+NotRun "
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	if a.Evaluated != 4 || a.Total != 6 {
		t.Errorf("got %d of %d", a.Evaluated, a.Total)
	}
}
