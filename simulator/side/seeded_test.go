package side

import (
	"fmt"
	"slices"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

func TestTheSameSeedChoosesAlikeAndAnotherOtherwise(t *testing.T) {
	numbers := func(seed uint64, pod string) (ranked []int) {
		s := &seeded{seed: seed, pod: pod}
		scores := make([]fwk.NodePluginScores, 50)
		for i := range scores {
			scores[i].Name = fmt.Sprint("node-", i)
		}
		s.scored(scores)
		for i := range scores {
			ranked = append(ranked, scores[i].Randomizer)
		}
		return ranked
	}
	first := numbers(1, "default/p")
	if !slices.Equal(first, numbers(1, "default/p")) {
		t.Error("the same seed gives other numbers")
	}
	if slices.Equal(first, numbers(2, "default/p")) || slices.Equal(first, numbers(1, "default/q")) {
		t.Error("another seed, or pod, has the same numbers")
	}
	if slices.Min(first) < 0 || len(slices.Compact(slices.Sorted(slices.Values(first)))) != len(first) {
		t.Errorf("some are negative, or the same: %v", first)
	}
}

func TestASeedChoosesAmongTheBestOnly(t *testing.T) {
	chosen := map[string]int{}
	for seed := range uint64(200) {
		s := &seeded{seed: seed, pod: "default/p"}
		s.last = []fwk.NodePluginScores{{Name: "low", TotalScore: 1}, {Name: "one", TotalScore: 2}, {Name: "two", TotalScore: 2}}
		chosen[s.choose("one")]++
	}
	if chosen["low"] > 0 || chosen["one"] < 60 || chosen["two"] < 60 {
		t.Errorf("it chooses %v", chosen)
	}
	if only := (&seeded{}).choose("only"); only != "only" {
		t.Errorf("without scores it chooses %q", only)
	}
}

func TestNodesStandInTheOrderOfZonesInTurnWhateverTheyCameIn(t *testing.T) {
	var list []fwk.NodeInfo
	for i, zone := range []string{"a", "a", "a", "b", "b", "c"} {
		node := objects.PlainNode(fmt.Sprint("node-", i), zone, "4")
		info := framework.NewNodeInfo()
		info.SetNode(&node)
		list = append(list, info)
	}
	want := []string{"node-0", "node-3", "node-5", "node-1", "node-4", "node-2"}
	for range 2 {
		sortNodes(list)
		var got []string
		for _, node := range list {
			got = append(got, node.Node().Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("they stand as %v, want %v", got, want)
		}
		slices.Reverse(list)
	}
}

func TestTheSchedulerStillHasWhereItBegins(t *testing.T) {
	if newSeeded(1, &scheduler.Scheduler{}).start == nil {
		t.Error("nextStartNodeIndex is not to be had any more")
	}
}
