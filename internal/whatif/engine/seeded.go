package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/private"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// seeded makes the choices that kube-scheduler leaves to chance: at which node it
// begins to look, in which order nodes answer, and which of those with equal totals
// it takes. They depend on the seed and on names alone. No verdict and no score changes:
// each outcome is one that the scheduler could have come to by itself.
type seeded struct {
	seed  uint64
	start *int // the place in the list of nodes where the scheduler begins; nil: unavailable

	// Of the current cycle:
	pod   string
	nodes []fwk.NodeInfo
	first int                    // the place of the node that comes first
	named bool                   // PreFilter has named the nodes
	which *string                // if not nil, it gets the name of the node that is asked, and nothing else
	last  []fwk.NodePluginScores // what scored
}

// newSeeded reaches into a scheduler. Without the private field, which a test would
// notice, the scheduler begins where the cycle before left off.
func newSeeded(seed uint64, sched *scheduler.Scheduler) *seeded {
	return &seeded{seed: seed, start: private.Field[int](sched, "nextStartNodeIndex")}
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

func (s *seeded) begin(of framework.Framework, pod *v1.Pod) {
	s.pod, s.last = cluster.NameOf(pod).String(), nil
	list, err := of.SnapshotSharedLister().NodeInfos().List()
	if err != nil || len(list) == 0 {
		return // the scheduler will see it too
	}
	s.nodes, s.first = list, s.number(s.pod)%len(list)
	if s.start != nil {
		*s.start = s.first
	}
}

// Until has nodes answer one after the other. The nodes that PreFilter has named come from a
// set, whose order is another each time: they are put into that of the list.
func (s *seeded) Until(ctx context.Context, pieces int, ask workqueue.DoWorkPieceFunc, _ string) {
	for _, piece := range s.inOrder(pieces, ask) {
		if ctx.Err() != nil {
			return
		}
		ask(piece)
	}
}

func (s *seeded) inOrder(pieces int, ask func(piece int)) []int {
	order := make([]int, pieces)
	for i := range order {
		order[i] = i
	}
	if !s.named {
		return order
	}
	places := make(map[string]int, len(s.nodes))
	for i, node := range s.nodes {
		places[node.Node().Name] = (i - s.first + len(s.nodes)) % len(s.nodes)
	}
	ranks := make([]int, pieces)
	for i := range order {
		var node string
		s.which = &node
		ask(i)
		ranks[i] = places[node]
	}
	s.which = nil
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	return order
}

// unasked is what a node answers that is only to say which one it is. If it is asked
// later, that answer takes the place of this; if not, enough others were found.
var unasked = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not asked")

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

// Parallelizer makes nodes answer one after the other.
func (p *profile) Parallelizer() fwk.Parallelizer { return p.engine.seeded }

// RunPreFilterPlugins comes first after the scheduler has a new list of nodes.
func (p *profile) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	p.engine.seeded.begin(p.Framework, pod)
	result, status, limiting := p.Framework.RunPreFilterPlugins(ctx, state, pod)
	p.engine.seeded.named = !result.AllNodes()
	return result, status, limiting
}

// RunFilterPluginsWithNominatedPods is called for each node in its turn.
func (p *profile) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	s := p.engine.seeded
	if s.which != nil {
		*s.which = node.Node().Name
		return unasked
	}
	return p.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
}

// RunPostFilterPlugins preempts by budgets that are counted.
func (p *profile) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	known := p.engine.verdicts.found
	if known != nil {
		return nil, known.postFilter
	}
	if p.engine.Spare {
		status := fwk.NewStatus(fwk.Unschedulable)
		p.engine.verdicts.keep(p.engine.unfit, nil, status)
		return nil, status
	}
	if _, err := p.engine.controllers.drain(ctx, p.engine.controllers.budgets); err != nil {
		return nil, fwk.AsStatus(err)
	}
	result, status := p.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
	p.engine.verdicts.keep(p.engine.unfit, result, status)
	return result, status
}

// RunScorePlugins gives each node a number, for the case that totals are equal.
func (p *profile) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := p.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if status.IsSuccess() {
		s := p.engine.seeded
		for i := range scores {
			scores[i].Randomizer = s.number(s.pod, scores[i].Name)
		}
		s.last = scores
	}
	return scores, status
}

// StoreScheduleResults keeps nothing for the next pod: whether a list of nodes is still
// good for it, kube-scheduler decides by how many milliseconds have passed.
func (*profile) StoreScheduleResults(context.Context, fwk.PodSignature, string, string, framework.SortedScoredNodes, int64) {
}

// schedulePod chooses where extenders are asked.
func (e *Engine) schedulePod(next hooks.SchedulePod) hooks.SchedulePod {
	return func(ctx context.Context, of framework.Framework, state fwk.CycleState, pod *hooks.Queued) (scheduler.ScheduleResult, error) {
		result, err := next(ctx, of, state, pod)
		if len(e.Scheduler.Extenders) > 0 && err == nil {
			result.SuggestedHost = e.seeded.choose(result.SuggestedHost)
		}
		if err == nil {
			e.found(hooks.PodOf(pod), result.FeasibleNodes)
		}
		return result, err
	}
}

// found takes note of how many nodes a pod could have.
func (e *Engine) found(pod *v1.Pod, feasible int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outcome(cluster.NameOf(pod)).Feasible = feasible
	if pod.Status.NominatedNodeName != "" {
		e.outcome(cluster.NameOf(pod)).Feasible = 0
	}
}
