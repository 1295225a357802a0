package recorder

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

var testProfile = &profile{
	name: "default-scheduler", verdicts: verdicts{{{Plugin: "A", Verdict: NotRun}}},
	columns: []Column{{Name: "A", key: "A"}, {Name: "B", key: "B"}},
}

func newTestNodes(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%05d", i)
	}
	return names
}

// record keeps an attempt with verdict(i) on node i.
func (r *Recorder) record(pod string, nodes []string, verdict func(i int) nodeVerdict) {
	rec := &record{
		Attempt: Attempt{Namespace: "ns", Name: pod, UID: pod, Result: Pending},
		profile: testProfile, verdicts: testProfile.verdicts.clone(),
	}
	r.add(rec)
	var all []int32
	var verdicts []nodeVerdict
	for i := range nodes {
		all, verdicts = append(all, int32(i)), append(verdicts, verdict(i))
	}
	r.update(func() {
		r.keep(rec, groupNodes(nodes, all, verdicts), nil)
		rec.Result = Unschedulable
	})
}

func nothing() {}

// halves rejects every other node.
func halves(i int) nodeVerdict {
	if i%2 == 0 {
		return nodeVerdict{Rejected, 1, "even", ""}
	}
	return nodeVerdict{Passed, -1, "", ""}
}

func TestRecorderForgetsOldAttemptsOfAPod(t *testing.T) {
	r := New(nothing)
	r.maxPerPod = 3
	for range 5 {
		r.record("p", newTestNodes(10), halves)
	}
	attempts := r.Attempts("ns", "p")
	if len(attempts) != 3 || attempts[0].Number != 5 || attempts[2].Number != 3 {
		t.Errorf("got %+v", attempts)
	}
}

// TestReasonsThatDifferForEachNodeCount: few such attempts take as much as many
// others.
func TestReasonsThatDifferForEachNodeCount(t *testing.T) {
	r := New(nothing)
	r.MaxBytes = 10 * (baseBytes + 100*(groupBytes+len("a reason of its own 00")+4))
	for i := range 50 {
		r.record(fmt.Sprint(i), newTestNodes(100), func(i int) nodeVerdict {
			return nodeVerdict{Rejected, 0, fmt.Sprintf("a reason of its own %02d", i), ""}
		})
	}
	testkit.Equal(t, len(r.pods), 10, "pods that are left, with %d bytes", r.bytes)
	last := r.Attempts("ns", "49")
	if len(last) != 1 || len(last[0].Nodes()) != 100 || last[0].Columns[0].Failed != 100 {
		t.Errorf("the last is %+v", last)
	}
	r.Reset()
	testkit.Equal(t, []int{r.bytes, len(r.pods), r.order.Len()}, []int{0, 0, 0}, "bytes, pods and attempts that are left after a reset")
}

// TestLargeClusterFits is what docs promise: an attempt for each of 5,000 pods on
// 1,000 nodes is kept.
func TestLargeClusterFits(t *testing.T) {
	const promised = 40 << 20
	r := New(nothing)
	nodes := newTestNodes(1000)
	before := testkit.HeapInUse()
	for i := range 5000 {
		r.record(fmt.Sprint(i), nodes, halves)
	}
	took := testkit.HeapInUse() - before
	t.Logf("5,000 attempts on 1,000 nodes: %d KiB", took>>10)
	if len(r.Attempts("ns", "0")) == 0 || took > promised {
		t.Errorf("they take %d KiB, and %d pods are kept", took>>10, len(r.pods))
	}
	runtime.KeepAlive(r)
}

// TestMemoryIsBounded compares the estimate with what is taken, by attempts with
// scores of many nodes.
func TestMemoryIsBounded(t *testing.T) {
	const bound = 8 << 20
	r, sched := New(nothing), newRealScheduler(t, 1000)
	r.MaxBytes = bound
	defer r.Attach(sched, asTyped)()
	before := testkit.HeapInUse()
	for i := range 500 {
		testkit.Must(t, place(t.Context(), sched, newPod(fmt.Sprint(i))))
	}
	took := testkit.HeapInUse() - before
	t.Logf("%d attempts with scores on 1,000 nodes: %d KiB, counted as %d KiB", r.order.Len(), took>>10, r.bytes>>10)
	n := r.order.Len()
	if n == 0 || n == 500 || took > bound*5/4 {
		t.Errorf("%d attempts take %d KiB, and may take %d", n, took>>10, bound>>10)
	}
	runtime.KeepAlive(r)
}

func TestErrorsAndRejectionsComeFirst(t *testing.T) {
	r := New(nothing)
	r.record("p", newTestNodes(6), func(i int) nodeVerdict {
		return []nodeVerdict{
			{Passed, -1, "", ""}, {NotRun, -1, "", ""}, {Rejected, 1, "b", ""}, {Rejected, 0, "a", ""}, {Errored, 1, "e", ""}, {Excluded, 0, "l", ""},
		}[i]
	})
	a := r.Attempts("ns", "p")[0]
	var got []string
	for _, g := range a.Groups {
		cells := fmt.Sprint(a.Cell(g, 0), "+", a.Cell(g, 1))
		got = append(got, strings.TrimPrefix(g.Nodes()[0], "node-0000")+" "+cells+" "+g.Reason)
	}
	want := []string{"4 Passed+Error e", "3 Failed+NotRun a", "2 Passed+Failed b", "5 Excluded+NotRun l", "0 Passed+Passed ", "1 NotRun+NotRun "}
	testkit.Equal(t, got, want, "the groups")
	testkit.Equal(t, []int{a.Evaluated, a.Total, len(a.Nodes())}, []int{4, 6, 6}, "evaluated nodes, all nodes and rows")
}

func asTyped(url string) string { return url }
