//go:build kubernetes_1_38

package hooks

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/featuregate"
	featuremetrics "k8s.io/component-base/metrics/prometheus/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/private"
)

// Options are the options of a scheduler that not each minor has.
func Options(c *config.KubeSchedulerConfiguration) []scheduler.Option {
	return []scheduler.Option{scheduler.WithPercentageOfPlacementsToScore(c.PercentageOfPlacementsToScore)}
}

// Extenders are the extenders of a scheduler, in the list that its frameworks share.
func Extenders(sched *scheduler.Scheduler) []fwk.Extender {
	for _, profile := range sched.Profiles {
		return profile.Extenders()
	}
	return nil
}

// StartIndex is the place in the list of nodes where a scheduler begins to filter, or nil if there is no such private field.
func StartIndex(sched *scheduler.Scheduler) *int {
	algorithm := private.Field[*scheduler.SchedulingAlgorithm](sched, "algorithm")
	if algorithm == nil {
		return nil
	}
	return private.Field[int](*algorithm, "nextStartNodeIndex")
}

// AroundRankNodes calls before and after plugins rank the nodes for a pod of a PodGroup, by which they are filtered.
func AroundRankNodes(profile framework.Framework, around RankNodes) framework.Framework {
	return &aroundRankNodes{profile, around}
}

type aroundRankNodes struct {
	framework.Framework
	around RankNodes
}

func (p *aroundRankNodes) RunRankNodesPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]framework.NodeWithRank, *fwk.Status) {
	after := p.around(state, nodes)
	ranked, status := p.Framework.RunRankNodesPlugins(ctx, state, pod, nodes)
	after(len(ranked) > 0)
	return ranked, status
}

// Candidate is a node, and the pods that preemption would delete there.
type Candidate = fwk.PreemptionCandidate

// NominatedPods are the pods that are to run on a node when others are gone.
func NominatedPods(of framework.Framework, node string) []fwk.PodInfo {
	return of.NominatedPodsForNode(klog.Logger{}, node)
}

// NoNominator nominates no pod, for tests.
type NoNominator struct{ fwk.PodNominator }

// NominatedPodsForNode implements fwk.PodNominator.
func (NoNominator) NominatedPodsForNode(klog.Logger, string) []fwk.PodInfo { return nil }

// AddGateMetrics adds to the metrics which feature gates are on.
func AddGateMetrics(gates featuregate.MutableFeatureGate) {
	gates.AddMetrics(featuremetrics.RecordFeatureInfo)
}

func pendingPods(group *framework.QueuedPodGroupInfo) []*v1.Pod { return group.GetAllUnscheduledPods() }
