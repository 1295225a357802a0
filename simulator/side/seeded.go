package side

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
	nodetopology "k8s.io/component-helpers/node/topology"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/parallelize"
)

// seeded makes the choices that kube-scheduler leaves to chance: at which node it
// begins to look, in which order nodes answer, and which of those with equal totals
// it takes. They depend on the seed and on names alone, and so are the same on both
// sides. No verdict and no score changes: each outcome is one that the scheduler could
// have come to by itself.
type seeded struct {
	seed  uint64
	start *int           // the place in nodes where the scheduler begins; nil: not to be had
	nodes []fwk.NodeInfo // the scheduler's own list, once it is sorted
	place map[string]int // of each node in it, by name

	// Of the current cycle:
	pod   string
	first int                    // the place of the node that comes first
	named bool                   // PreFilter has named the nodes
	which *string                // if not nil, it is to be told which node is asked, and nothing else
	last  []fwk.NodePluginScores // what scored
}

// newSeeded reaches into a scheduler. Without the private field, which its tests
// would notice, the scheduler begins where the cycle before left off.
func newSeeded(seed uint64, sched *scheduler.Scheduler) *seeded {
	s := &seeded{seed: seed}
	field := reflect.ValueOf(sched).Elem().FieldByName("nextStartNodeIndex")
	if field.IsValid() && field.Kind() == reflect.Int {
		s.start = (*int)(unsafe.Pointer(field.UnsafeAddr()))
	}
	return s
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

func (s *seeded) begin(profile framework.Framework, pod string) {
	s.pod, s.last = pod, nil
	list, err := profile.SnapshotSharedLister().NodeInfos().List()
	if err != nil || len(list) == 0 {
		return // the scheduler will see it too
	}
	if len(s.nodes) != len(list) || &s.nodes[0] != &list[0] {
		sortNodes(list)
		s.nodes, s.place = list, make(map[string]int, len(list))
		for i, node := range list {
			s.place[node.Node().Name] = i
		}
	}
	s.first = s.number(pod) % len(list)
	if s.start != nil {
		*s.start = s.first
	}
}

// inOrder puts what asks a node each into the order of the list. The scheduler has taken
// those that PreFilter has named from a set, whose order is another each time.
func (s *seeded) inOrder(pieces int, ask func(piece int)) []int {
	order, ranks := make([]int, pieces), make([]int, pieces)
	for i := range order {
		order[i] = i
		if s.named {
			ranks[i] = (s.place[s.asked(ask, i)] - s.first + len(s.nodes)) % len(s.nodes)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	return order
}

// asked is the node that would be asked. The scheduler does not come to ask it.
func (s *seeded) asked(ask func(piece int), piece int) (node string) {
	s.which = &node
	defer func() {
		s.which = nil
		if reason := recover(); reason != nil && reason != any(s) {
			panic(reason)
		}
	}()
	ask(piece)
	return node
}

// sortNodes puts the scheduler's list, which is in the order in which it saw the
// nodes, into one that both sides have: the zones in turn, as the scheduler has it
// too, and by name.
func sortNodes(list []fwk.NodeInfo) {
	rank, count := make(map[fwk.NodeInfo]int, len(list)), map[string]int{}
	zone := func(node fwk.NodeInfo) string { return nodetopology.GetZoneKey(node.Node()) }
	slices.SortFunc(list, func(a, b fwk.NodeInfo) int { return cmp.Compare(a.Node().Name, b.Node().Name) })
	for _, node := range list {
		rank[node] = count[zone(node)]
		count[zone(node)]++
	}
	slices.SortStableFunc(list, func(a, b fwk.NodeInfo) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(zone(a), zone(b)))
	})
}

// scored gives each node a number, for the case that totals are equal.
func (s *seeded) scored(scores []fwk.NodePluginScores) {
	for i := range scores {
		scores[i].Randomizer = s.number(s.pod, scores[i].Name)
	}
	s.last = scores
}

// choose is for a scheduler with extenders, which draws new numbers after it has asked
// them. Its own choice may be another one of the best.
func (s *seeded) choose(suggested string) string {
	if len(s.last) == 0 || suggested == "" {
		return suggested
	}
	best := slices.MaxFunc(s.last, func(a, b fwk.NodePluginScores) int {
		return cmp.Or(cmp.Compare(a.TotalScore, b.TotalScore), cmp.Compare(s.number(s.pod, a.Name), s.number(s.pod, b.Name)))
	})
	return best.Name
}

type seededProfile struct {
	framework.Framework
	scheduler *pausable
}

// Parallelizer makes nodes answer one after the other, in the order of the list. The
// plugins themselves are given the framework in here, and go on side by side.
func (p *seededProfile) Parallelizer() fwk.Parallelizer { return oneByOne{p.scheduler.seeded} }

type oneByOne struct{ *seeded }

func (s oneByOne) Until(ctx context.Context, pieces int, ask workqueue.DoWorkPieceFunc, operation string) {
	order := s.inOrder(pieces, ask)
	parallelize.NewParallelizer(1).Until(ctx, pieces, func(i int) { ask(order[i]) }, operation)
}

// RunFilterPluginsWithNominatedPods is called for each node in its turn.
func (p *seededProfile) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if s := p.scheduler.seeded; s.which != nil {
		*s.which = node.Node().Name
		panic(s) // back to asked: any verdict would count
	}
	return p.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
}

// RunPreFilterPlugins comes first after the scheduler's list of nodes is made anew, which
// Kubernetes 1.35 does within its SchedulePod, and others before it.
func (p *seededProfile) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	p.scheduler.seeded.begin(p.Framework, nameOf(pod).String())
	result, status, limiting := p.Framework.RunPreFilterPlugins(ctx, state, pod)
	p.scheduler.seeded.named = !result.AllNodes()
	return result, status, limiting
}

func (p *seededProfile) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := p.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if status.IsSuccess() {
		p.scheduler.seeded.scored(scores)
	}
	return scores, status
}

// StoreScheduleResults keeps the list of the next best nodes from opportunistic
// batching where the choice may yet be changed.
func (p *seededProfile) StoreScheduleResults(ctx context.Context, signature fwk.PodSignature, hinted, chosen string, others framework.SortedScoredNodes, cycle int64) {
	if len(p.scheduler.Extenders) == 0 {
		p.Framework.StoreScheduleResults(ctx, signature, hinted, chosen, others, cycle)
	}
}

func (p *seededProfile) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	p.Framework.RunPostBindPlugins(ctx, state, pod, node)
	p.scheduler.podsChange()
	p.scheduler.end(pod)
}
