//go:build !kubernetes_1_38

package hooks

import (
	"k8s.io/component-base/featuregate"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"wasmkwokwizardry.io/regex-scheduling/internal/private"
)

// Options are the options of a scheduler that not each minor has.
func Options(*config.KubeSchedulerConfiguration) []scheduler.Option { return nil }

// Extenders are the extenders of a scheduler, in the list that its frameworks share.
func Extenders(sched *scheduler.Scheduler) []fwk.Extender { return sched.Extenders }

// StartIndex is the place in the list of nodes where a scheduler begins to filter, or nil if there is no such private field.
func StartIndex(sched *scheduler.Scheduler) *int {
	return private.Field[int](sched, "nextStartNodeIndex")
}

// AroundRankNodes is of use where plugins rank the nodes for pods of PodGroups.
func AroundRankNodes(profile framework.Framework, _ RankNodes) framework.Framework { return profile }

// Candidate is a node, and the pods that preemption would delete there.
type Candidate = preemption.Candidate

// NominatedPods are the pods that are to run on a node when others are gone.
func NominatedPods(of framework.Framework, node string) []fwk.PodInfo {
	return of.NominatedPodsForNode(node)
}

// NoNominator nominates no pod, for tests.
type NoNominator struct{ fwk.PodNominator }

// NominatedPodsForNode implements fwk.PodNominator.
func (NoNominator) NominatedPodsForNode(string) []fwk.PodInfo { return nil }

// AddGateMetrics adds to the metrics which feature gates are on.
func AddGateMetrics(gates featuregate.MutableFeatureGate) { gates.AddMetrics() }
