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
	nodetopology "k8s.io/component-helpers/node/topology"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/parallelize"
)

// dice decide what kube-scheduler leaves to chance: at which node it begins to
// look, in which order nodes answer, and which of those with equal totals it
// takes. What they decide depends on the seed and on names alone, and so is the
// same on both sides. They never touch a verdict or a score: each outcome is one
// that the scheduler could have come to without them.
type dice struct {
	seed  uint64
	start *int                   // the place in nodes where the scheduler begins; nil: not to be had
	nodes []fwk.NodeInfo         // the scheduler's own list, once it is in order
	pod   string                 // of the current cycle
	last  []fwk.NodePluginScores // of the current cycle
}

// newDice makes dice for a scheduler. Without the private field, which its tests
// would notice, the scheduler begins where the cycle before left off.
func newDice(seed uint64, sched *scheduler.Scheduler) *dice {
	d := &dice{seed: seed}
	field := reflect.ValueOf(sched).Elem().FieldByName("nextStartNodeIndex")
	if field.IsValid() && field.Kind() == reflect.Int {
		d.start = (*int)(unsafe.Pointer(field.UnsafeAddr()))
	}
	return d
}

// throw is a number that only the seed and the names decide.
func (d *dice) throw(names ...string) int {
	hash := fnv.New64a()
	_ = binary.Write(hash, binary.LittleEndian, d.seed)
	for _, name := range names {
		_, _ = hash.Write(append([]byte(name), 0))
	}
	x := hash.Sum64() // names that differ in their last letter still lie close together
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) & math.MaxInt)
}

// begin prepares for a pod.
func (d *dice) begin(profile framework.Framework, pod string) {
	d.pod, d.last = pod, nil
	list, err := profile.SnapshotSharedLister().NodeInfos().List()
	if err != nil || len(list) == 0 {
		return // the scheduler will see it too
	}
	if len(d.nodes) != len(list) || &d.nodes[0] != &list[0] {
		arrange(list)
		d.nodes = list
	}
	if d.start != nil {
		*d.start = d.throw(pod) % len(list)
	}
}

// arrange puts the scheduler's list, which is in the order in which nodes were
// heard of, into one that both sides have: the zones in turn, as the scheduler has
// it too, and by name.
func arrange(list []fwk.NodeInfo) {
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

// scored throws for each node, for the case that totals are equal.
func (d *dice) scored(scores []fwk.NodePluginScores) {
	for i := range scores {
		scores[i].Randomizer = d.throw(d.pod, scores[i].Name)
	}
	d.last = scores
}

// chosen is the node that the dice choose. With extenders the scheduler throws
// again after it has asked them, so its choice may be another one of the best.
func (d *dice) chosen(suggested string) string {
	if len(d.last) == 0 || suggested == "" {
		return suggested
	}
	best := slices.MaxFunc(d.last, func(a, b fwk.NodePluginScores) int {
		return cmp.Or(cmp.Compare(a.TotalScore, b.TotalScore), cmp.Compare(d.throw(d.pod, a.Name), d.throw(d.pod, b.Name)))
	})
	return best.Name
}

// diced is a profile that is under the dice.
type diced struct {
	framework.Framework
	steering *steering
}

// Parallelizer makes nodes answer one after the other. The plugins themselves are
// given the framework in here, and go on side by side.
func (f *diced) Parallelizer() fwk.Parallelizer { return parallelize.NewParallelizer(1) }

func (f *diced) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if status.IsSuccess() {
		f.steering.dice.scored(scores)
	}
	return scores, status
}

// StoreScheduleResults keeps the list of the next best nodes from opportunistic
// batching where the choice may yet be changed.
func (f *diced) StoreScheduleResults(ctx context.Context, signature fwk.PodSignature, hinted, chosen string, others framework.SortedScoredNodes, cycle int64) {
	if len(f.steering.sched.Extenders) == 0 {
		f.Framework.StoreScheduleResults(ctx, signature, hinted, chosen, others, cycle)
	}
}

func (f *diced) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	f.Framework.RunPostBindPlugins(ctx, state, pod, node)
	f.steering.stir()
	f.steering.ended(pod)
}
