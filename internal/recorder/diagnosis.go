package recorder

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
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

// shortages says what the nodes lack that the plugin of a column has rejected for want of resources.
func (s *session) shortages(column int, pod *v1.Pod, list []framework.NodeInfo) (all []decisions.Shortage) {
	lacking := map[string][]string{} // by reason
	most := map[string]int64{}
	nodes := map[string]int{}
	var order []string
	for i, place := range s.nodes.places {
		verdict := &s.verdicts[place]
		if column < 0 || verdict.verdict != Rejected || verdict.column != column {
			continue
		}
		resources, ok := lacking[verdict.reason]
		if !ok {
			resources = report.Lacking(verdict.reason)
			lacking[verdict.reason] = resources
		}
		for _, name := range resources {
			if nodes[name] == 0 {
				order = append(order, name)
			}
			nodes[name]++
			most[name] = max(most[name], free(list[i], name))
		}
	}
	asked := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	asked[v1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	for _, name := range order {
		quantity := asked[v1.ResourceName(name)]
		left := resource.NewQuantity(most[name], quantity.Format)
		if name == string(v1.ResourceCPU) {
			left = resource.NewMilliQuantity(most[name], quantity.Format)
		}
		all = append(all, decisions.Shortage{Resource: name, Nodes: nodes[name], Asked: quantity.String(), MostFree: left.String()})
	}
	return all
}

// free is how much of a resource a node has left, in thousandths for CPU.
func free(node framework.NodeInfo, name string) int64 {
	all, used := node.GetAllocatable(), node.GetRequested()
	switch v1.ResourceName(name) {
	case v1.ResourceCPU:
		return all.GetMilliCPU() - used.GetMilliCPU()
	case v1.ResourceMemory:
		return all.GetMemory() - used.GetMemory()
	case v1.ResourceEphemeralStorage:
		return all.GetEphemeralStorage() - used.GetEphemeralStorage()
	case v1.ResourcePods:
		return int64(all.GetAllowedPodNumber() - len(node.GetPods()))
	}
	return all.GetScalarResources()[v1.ResourceName(name)] - used.GetScalarResources()[v1.ResourceName(name)]
}
