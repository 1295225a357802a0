package recorder

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
)

// diagnose records what is known once no node was found: for a sparse recorder the verdicts on
// nodes, which the scheduler has kept; for every one how much of which resource is missing.
func (s *session) diagnose(c *cycle, fwk schedframework.Framework, unfit *schedframework.FitError) {
	if s.recorder.sparse {
		s.look(c, fwk)
		if c.exclude != nil {
			c.exclude()
		}
		put := func(name string, verdict nodeVerdict) {
			place, ok := s.nodes.byName[name]
			if ok {
				s.verdicts[place] = verdict
			}
		}
		unfit.Diagnosis.NodeToStatus.ForEachExplicitNode(func(name string, status *framework.Status) { put(name, c.verdict(status)) })
		for name, verdict := range c.extended {
			put(name, verdict)
		}
	}
	list := nodesOf(fwk)
	if c.looked && len(list) == len(s.nodes.places) {
		shortages := s.shortages(c.rec.profile.columnOf(names.NodeResourcesFit), unfit.Pod, list)
		s.recorder.update(func() { c.rec.Shortages = shortages })
	}
}

// shortages says what the nodes lack that the plugin of a column has rejected for want of resources. The verdicts on these nodes
// get it, too.
func (s *session) shortages(column int, pod *v1.Pod, list []framework.NodeInfo) (all []decisions.Shortage) {
	lacking := Lacking(pod)
	most := map[string]int64{}
	nodes := map[string]int{}
	for i, place := range s.nodes.places {
		verdict := &s.verdicts[place]
		if column < 0 || verdict.verdict != Rejected || verdict.column != column {
			continue
		}
		resources := lacking(list[i])
		verdict.lacking = strings.Join(resources, ", ")
		for _, name := range resources {
			nodes[name]++
			most[name] = max(most[name], free(list[i], v1.ResourceName(name)))
		}
	}
	asked := askedBy(pod)
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		quantity := asked[v1.ResourceName(name)]
		left := resource.NewQuantity(most[name], quantity.Format)
		if name == string(v1.ResourceCPU) {
			left = resource.NewMilliQuantity(most[name], quantity.Format)
		}
		all = append(all, decisions.Shortage{Resource: name, Nodes: nodes[name], Asked: quantity.String(), MostFree: left.String()})
	}
	return all
}

// askedBy is what a pod requests, with its place on a node.
func askedBy(pod *v1.Pod) v1.ResourceList {
	asked := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	asked[v1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return asked
}

// Lacking returns what says of a node that the plugin NodeResourcesFit has rejected for a pod of which resources it has too little
// left, sorted. None is lacking where only pods that are nominated to the node would leave too little.
func Lacking(pod *v1.Pod) func(framework.NodeInfo) []string {
	asked := askedBy(pod)
	names := slices.Sorted(maps.Keys(asked))
	return func(node framework.NodeInfo) (lacking []string) {
		for _, name := range names {
			quantity := asked[name]
			amount := quantity.Value()
			if name == v1.ResourceCPU {
				amount = quantity.MilliValue()
			}
			if amount > 0 && amount > free(node, name) {
				lacking = append(lacking, string(name))
			}
		}
		return lacking
	}
}

// free is how much of a resource a node has left, in thousandths for CPU.
func free(node framework.NodeInfo, name v1.ResourceName) int64 {
	all, used := node.GetAllocatable(), node.GetRequested()
	switch name {
	case v1.ResourceCPU:
		return all.GetMilliCPU() - used.GetMilliCPU()
	case v1.ResourceMemory:
		return all.GetMemory() - used.GetMemory()
	case v1.ResourceEphemeralStorage:
		return all.GetEphemeralStorage() - used.GetEphemeralStorage()
	case v1.ResourcePods:
		return int64(all.GetAllowedPodNumber() - len(node.GetPods()))
	}
	return all.GetScalarResources()[name] - used.GetScalarResources()[name]
}
