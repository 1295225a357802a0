package recorder

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kube-scheduler/framework"
)

func TestNodeSetsKeepWhatIsPutIn(t *testing.T) {
	for _, places := range [][]int32{{}, {0}, {3, 64, 199}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 63, 64, 65, 127, 128, 199}} {
		set := newNodeSet(places, 200)
		if got := slices.Collect(set.all()); !slices.Equal(got, places) || set.len() != len(places) {
			t.Errorf("put in %v, got %v", places, got)
		}
		for i := range set.all() {
			_ = i
			break // a bitmap and a list must bear that
		}
	}
	every := make([]int32, 1000)
	for i := range every {
		every[i] = int32(i)
	}
	if set := newNodeSet(every, 1000); set.bytes() > 128 {
		t.Errorf("1,000 nodes take %d bytes", set.bytes())
	}
}

func TestValuesKeepWhatIsPutIn(t *testing.T) {
	for _, numbers := range [][]int64{{}, {7}, {7, 7, 7}, {0, 100, 255}, {0, 256}, {-1, 5}, {1 << 40, 0}} {
		v := newValues(numbers)
		for i, n := range numbers {
			if v.at(i) != n {
				t.Errorf("%v: got %d at %d", numbers, v.at(i), i)
			}
		}
	}
	if v := newValues([]int64{300, 300}); v.bytes() != 0 {
		t.Errorf("a column of one number takes %d bytes", v.bytes())
	}
}

func TestWhatAPreFilterSays(t *testing.T) {
	l := &layout{preFilter: []string{"A", "B", "C"}}
	rejected := framework.NewStatus(framework.UnschedulableAndUnresolvable, "no").WithPlugin("B")
	goesOn := framework.NewStatus(framework.Unschedulable, "no").WithPlugin("B")
	failed := framework.NewStatus(framework.Error, "broken").WithPlugin("A")
	empty := framework.NewStatus(framework.UnschedulableAndUnresolvable, "none left")
	for _, test := range []struct {
		name             string
		skipped, limited []string
		status           *framework.Status
		want             []Verdict
	}{
		{"all pass, and one does not care", []string{"B"}, nil, nil, []Verdict{Passed, Skipped, Passed}},
		{"one refuses, and the rest is not asked", []string{"A"}, nil, rejected, []Verdict{Skipped, Rejected, NotRun}},
		{"one refuses, and the rest is asked", nil, nil, goesOn, []Verdict{Passed, Rejected, Passed}},
		{"one breaks", nil, nil, failed, []Verdict{Errored, NotRun, NotRun}},
		{"two leave no node between them", nil, []string{"A", "B"}, empty, []Verdict{Passed, Rejected, NotRun}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPreFilter(l, sets.New(test.skipped...), sets.New(test.limited...), test.status)
			for i, verdict := range p.verdicts(l.preFilter) {
				if verdict.Verdict != test.want[i] || verdict.LimitsNodes != slices.Contains(test.limited, verdict.Plugin) {
					t.Errorf("got %+v, want %s", verdict, test.want[i])
				}
			}
		})
	}
}
