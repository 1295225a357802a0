package scheduling

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// seeded makes the choices that kube-scheduler leaves to chance: at which node it begins to filter, in which order nodes are
// filtered, and which of those with equal scores it takes. They depend on the seed and on names alone. No verdict and no score
// changes: kube-scheduler could have made each choice by itself.
type seeded struct {
	seed  uint64
	start *int // the scheduler's own: the place in the list of nodes where it begins

	// Of the current attempt:
	pod      string
	nodes    []fwk.NodeInfo
	first    int                    // the place of the node that comes first
	place    int                    // that of the node that is filtered, unless PreFilter has named the nodes
	limited  bool                   // PreFilter has named the nodes to filter
	nodeName *string                // if not nil, it gets the name of the node that is filtered, and nothing else happens
	scores   []fwk.NodePluginScores // of the nodes that passed
}

// newSeeded fails if the scheduler has no such field: it would begin where the attempt before left off.
func newSeeded(seed uint64, sched *scheduler.Scheduler) (*seeded, error) {
	s := &seeded{seed: seed, start: hooks.StartIndex(sched)}
	if s.start == nil {
		return nil, fmt.Errorf("%T is not as the engine knows it: it has no nextStartNodeIndex", sched)
	}
	return s, nil
}

// number depends on the seed and the names alone.
func (s *seeded) number(names ...string) int {
	hash := fnv.New64a()
	_ = binary.Write(hash, binary.LittleEndian, s.seed)
	for _, name := range names {
		_, _ = hash.Write(append([]byte(name), 0))
	}
	x := hash.Sum64() // names that differ in their last letter still lie close together
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) & math.MaxInt)
}

func (s *seeded) beginAttempt(of framework.Framework, pod *v1.Pod) {
	s.pod = cluster.NameOf(pod).String()
	s.scores = nil
	list, err := of.SnapshotSharedLister().NodeInfos().List()
	if err != nil || len(list) == 0 {
		return // the scheduler will see it too
	}
	s.nodes = list
	s.first = s.number(s.pod) % len(list)
	*s.start = s.first
}

// Until has nodes filtered one after the other. Nodes that PreFilter has named come from a set, whose order is another each
// time: they are filtered in the order of the list.
func (s *seeded) Until(ctx context.Context, pieces int, filter workqueue.DoWorkPieceFunc, _ string) {
	order := make([]int, pieces)
	for i := range order {
		order[i] = i
	}
	if s.limited {
		places := s.places()
		ranks := make([]int, pieces)
		for i := range order {
			var name string
			s.nodeName = &name
			filter(i)
			ranks[i] = places[name]
		}
		s.nodeName = nil
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	}
	for _, piece := range order {
		if ctx.Err() != nil {
			return
		}
		s.place = (s.first + piece) % max(1, len(s.nodes))
		filter(piece)
	}
}

// places are the places of all nodes, counted from the first one, by their names.
func (s *seeded) places() map[string]int {
	places := make(map[string]int, len(s.nodes))
	for i, node := range s.nodes {
		places[node.Node().Name] = (i - s.first + len(s.nodes)) % len(s.nodes)
	}
	return places
}

// rank puts the nodes that PreFilter has named in order before plugins rank them. Then they are filtered by their ranks.
func (s *seeded) rank(_ fwk.CycleState, nodes []fwk.NodeInfo) (after func(ranked bool)) {
	if s.limited {
		places := s.places()
		slices.SortFunc(nodes, func(a, b fwk.NodeInfo) int { return cmp.Compare(places[a.Node().Name], places[b.Node().Name]) })
	}
	return func(ranked bool) { s.limited = s.limited && !ranked }
}

// notFiltered is the status of a node that has only given its name. If it is filtered later, that status takes the place of
// this; if not, enough other nodes passed.
var notFiltered = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not asked")

// choose is for a scheduler with extenders, which draws new numbers after it has asked
// them. Its own choice may be another one of the best.
func (s *seeded) choose(suggested string) string {
	if len(s.scores) == 0 || suggested == "" {
		return suggested
	}
	best := slices.MaxFunc(s.scores, func(a, b fwk.NodePluginScores) int {
		return cmp.Or(cmp.Compare(a.TotalScore, b.TotalScore), cmp.Compare(s.number(s.pod, a.Name), s.number(s.pod, b.Name)))
	})
	return best.Name
}
