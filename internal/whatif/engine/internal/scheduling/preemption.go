package scheduling

import (
	"fmt"
	"maps"
	"math"
	"slices"

	podpriority "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/private"
)

// preempting makes the choices that kube-scheduler's preemption leaves to chance: at which node it begins, and which of equal nodes
// it takes, where it would take the first of a map.
type preempting struct {
	preemption.Interface
	scheduler *Scheduler
}

// seedPreemption fails if the preemption of a profile is not as the engine knows it.
func (s *Scheduler) seedPreemption(of framework.Framework) error {
	plugins := private.Field[map[string]fwk.Plugin](of, "pluginsMap")
	if plugins == nil {
		return fmt.Errorf("%T is not as the engine knows it: it has no pluginsMap", of)
	}
	plugin, ok := (*plugins)[names.DefaultPreemption].(*defaultpreemption.DefaultPreemption)
	if ok { // or it is disabled, or another one
		plugin.Evaluator.Interface = &preempting{plugin.Evaluator.Interface, s}
	}
	return nil
}

func (p *preempting) GetOffsetAndNumCandidates(nodes int32) (offset, candidates int32) {
	_, candidates = p.Interface.GetOffsetAndNumCandidates(nodes)
	return int32(p.scheduler.seeded.number(p.scheduler.seeded.pod) % int(nodes)), candidates
}

// CandidatesToVictimsMap has one of nodes that are equal by all that kube-scheduler chooses by. Extenders get all.
func (p *preempting) CandidatesToVictimsMap(candidates []hooks.Candidate) map[string]*extenderv1.Victims {
	all := p.Interface.CandidatesToVictimsMap(candidates)
	if len(hooks.Extenders(p.scheduler.Kube)) > 0 {
		return all
	}
	s := p.scheduler.seeded
	best := map[string]string{}
	for _, node := range slices.Sorted(maps.Keys(all)) {
		value := valueOf(all[node])
		other, ok := best[value]
		switch {
		case !ok:
			best[value] = node
		case s.number(s.pod, node) > s.number(s.pod, other):
			best[value] = node
			delete(all, other)
		default:
			delete(all, node)
		}
	}
	return all
}

// valueOf is all by which kube-scheduler prefers a node's victims (pickOneNodeForPreemption).
func valueOf(victims *extenderv1.Victims) string {
	sum := int64(0)
	for _, pod := range victims.Pods {
		sum += int64(podpriority.PodPriority(pod)) + math.MaxInt32 + 1
	}
	return fmt.Sprint(victims.NumPDBViolations, podpriority.PodPriority(victims.Pods[0]), sum, len(victims.Pods), util.GetEarliestPodStartTime(victims))
}

// inOrder gives nodes in their order, and not in that of a map.
type inOrder struct{ fwk.NodeToStatusReader }

func (n inOrder) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	nodes, err := n.NodeToStatusReader.NodesForStatusCode(lister, code)
	list, wrong := lister.List()
	if err != nil || wrong != nil {
		return nodes, err
	}
	places := make(map[string]int, len(list))
	for i, node := range list {
		places[node.Node().Name] = i
	}
	slices.SortFunc(nodes, func(a, b fwk.NodeInfo) int { return places[a.Node().Name] - places[b.Node().Name] })
	return nodes, nil
}
