package recorder

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/heap"
)

var testProfile = &profile{
	name: "default-scheduler", plugins: [points][]string{{"A"}},
	columns: []Column{{Name: "A"}, {Name: "B"}}, column: map[string]int{"A": 0, "B": 1},
}

func newTestNodes(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%05d", i)
	}
	return names
}

// record keeps an attempt of which verdict(i) is said of node i.
func (r *Recorder) record(pod string, nodes []string, verdict func(i int) said) {
	rec := &record{
		pod: types.NamespacedName{Namespace: "ns", Name: pod}, uid: types.UID(pod),
		profile: testProfile, result: Pending, said: &sayings{},
	}
	r.add(rec)
	var g grouping
	for i := range nodes {
		g.add(int32(i), verdict(i))
	}
	r.update(func() {
		r.keep(rec, g.groups(nodes), nil)
		rec.end(Unschedulable, "")
	})
}

func nothing() {}

// halves says of every other node that it failed, and why.
func halves(i int) said {
	if i%2 == 0 {
		return said{Rejected, 1, "even"}
	}
	return said{Passed, -1, ""}
}

func TestOldAttemptsOfAPodMakeRoom(t *testing.T) {
	r := newRecorder(limits{perPod: 3, attempts: 100, groups: 100}, nothing)
	for range 5 {
		r.record("p", newTestNodes(10), halves)
	}
	attempts := r.Attempts("ns", "p")
	if len(attempts) != 3 || attempts[0].Number != 5 || attempts[2].Number != 3 || r.order.Len() != 3 || r.groups != 6 {
		t.Errorf("got %+v", attempts)
	}
}

func TestAttemptsOfAllPodsMakeRoom(t *testing.T) {
	r := newRecorder(limits{perPod: 3, attempts: 10, groups: 100}, nothing)
	for i := range 25 {
		r.record(fmt.Sprint(i), newTestNodes(10), halves)
	}
	if len(r.pods) != 10 || r.order.Len() != 10 || r.groups != 20 || len(r.Attempts("ns", "14")) != 0 || len(r.Attempts("ns", "15")) != 1 {
		t.Errorf("%d pods are left, in %d attempts with %d groups", len(r.pods), r.order.Len(), r.groups)
	}
}

// TestReasonsThatDifferForEachNodeMakeRoom: few such attempts take as much as many
// others.
func TestReasonsThatDifferForEachNodeMakeRoom(t *testing.T) {
	r := newRecorder(limits{perPod: 20, attempts: 1000, groups: 1000}, nothing)
	for i := range 50 {
		r.record(fmt.Sprint(i), newTestNodes(100), func(i int) said {
			return said{Rejected, 0, fmt.Sprint("a reason of its own ", i)}
		})
	}
	if len(r.pods) != 10 || r.groups != 1000 {
		t.Errorf("%d pods are left, with %d groups", len(r.pods), r.groups)
	}
	if last := r.Attempts("ns", "49"); len(last) != 1 || len(last[0].Nodes()) != 100 || last[0].Columns[0].Failed != 100 {
		t.Errorf("the last is %+v", last)
	}
	r.Reset()
	if r.groups != 0 || len(r.pods) != 0 || r.order.Len() != 0 {
		t.Errorf("after a reset %d groups of %d pods are left", r.groups, len(r.pods))
	}
}

// TestALargeClusterFits is the promise: an attempt for each of 5,000 pods on
// 1,000 nodes is kept.
func TestALargeClusterFits(t *testing.T) {
	const promised = 10 << 20
	r := New(nothing)
	nodes := newTestNodes(1000)
	before := heap.InUse()
	for i := range 5000 {
		r.record(fmt.Sprint(i), nodes, halves)
	}
	took := heap.InUse() - before
	t.Logf("5,000 attempts on 1,000 nodes: %d KiB", took>>10)
	if len(r.Attempts("ns", "0")) == 0 || took > promised {
		t.Errorf("they take %d KiB, and %d pods are kept", took>>10, len(r.pods))
	}
	runtime.KeepAlive(r)
}

func TestRowsComeInTheOrderOfNeed(t *testing.T) {
	r := New(nothing)
	r.record("p", newTestNodes(6), func(i int) said {
		return []said{
			{Passed, -1, ""}, {NotRun, -1, ""}, {Rejected, 1, "b"}, {Rejected, 0, "a"}, {Errored, 1, "e"}, {LeftOut, 0, "l"},
		}[i]
	})
	a := r.Attempts("ns", "p")[0]
	var got []string
	for _, g := range a.Groups {
		cells := fmt.Sprint(a.Cell(g, 0), "+", a.Cell(g, 1))
		got = append(got, strings.TrimPrefix(g.Nodes()[0], "node-0000")+" "+cells+" "+g.Reason)
	}
	want := "4 Passed+Error e; 3 Failed+NotRun a; 2 Passed+Failed b; 5 LeftOut+NotRun l; 0 Passed+Passed ; 1 NotRun+NotRun "
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	if a.Evaluated != 4 || a.Total != 6 || len(a.Nodes()) != 6 {
		t.Errorf("got %d of %d in %d rows", a.Evaluated, a.Total, len(a.Nodes()))
	}
}
