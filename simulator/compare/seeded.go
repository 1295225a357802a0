package compare

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
	start *int                   // the place in nodes where the scheduler begins; nil: not to be had
	nodes []fwk.NodeInfo         // the scheduler's own list, once it is sorted
	pod   string                 // of the current cycle
	last  []fwk.NodePluginScores // of the current cycle
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
		s.nodes = list
	}
	if s.start != nil {
		*s.start = s.number(pod) % len(list)
	}
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

// Parallelizer makes nodes answer one after the other. The plugins themselves are
// given the framework in here, and go on side by side.
func (p *seededProfile) Parallelizer() fwk.Parallelizer { return parallelize.NewParallelizer(1) }

// RunPreFilterPlugins comes first after the scheduler's list of nodes is made anew, which
// Kubernetes 1.35 does within its SchedulePod, and others before it.
func (p *seededProfile) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	p.scheduler.seeded.begin(p.Framework, nameOf(pod).String())
	return p.Framework.RunPreFilterPlugins(ctx, state, pod)
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
