package recorder

import (
	"cmp"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kube-scheduler/framework"
)

// recordedExtender reports what an extender says.
type recordedExtender struct {
	framework.Extender
	session   *session
	key, name string
}

func (e *recordedExtender) Filter(pod *v1.Pod, nodes []framework.NodeInfo) ([]framework.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	left, failed, unresolvable, err := e.Extender.Filter(pod, nodes)
	if e.session.current.Load() == nil || !e.IsFilter() {
		return left, failed, unresolvable, err
	}
	switch {
	case err == nil:
		e.compare(nodes, left, failed, unresolvable)
	case !e.IsIgnorable():
		status := framework.AsStatus(err).WithPlugin(e.key)
		for _, node := range nodes {
			e.set(node, status)
		}
	}
	return left, failed, unresolvable, err
}

// silent is the reason of an extender that gives none.
const silent = "the extender left it out without a reason"

// compare records the nodes that went in and did not come out again.
func (e *recordedExtender) compare(nodes, left []framework.NodeInfo, failed, unresolvable extenderv1.FailedNodesMap) {
	out := make(map[string]bool, len(left))
	for _, node := range left {
		out[node.Node().Name] = true
	}
	for _, node := range nodes {
		name := node.Node().Name
		if out[name] {
			continue
		}
		reason := cmp.Or(unresolvable[name], failed[name], silent)
		e.set(node, framework.NewStatus(framework.Unschedulable, reason).WithPlugin(e.key))
	}
}

func (e *recordedExtender) set(node framework.NodeInfo, status *framework.Status) {
	if place, ok := e.session.nodes.find(node); ok {
		e.session.cells[place] = status
	}
}

// Prioritize is called for all extenders side by side.
func (e *recordedExtender) Prioritize(pod *v1.Pod, nodes []framework.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	list, weight, err := e.Extender.Prioritize(pod, nodes)
	c := e.session.current.Load()
	if err == nil && list != nil && c != nil && e.IsPrioritizer() {
		e.session.mu.Lock()
		defer e.session.mu.Unlock()
		if c.scoring != nil {
			c.scoring.add(e.name, weight, *list)
		}
	}
	return list, weight, err
}
