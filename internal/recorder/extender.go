package recorder

import (
	"cmp"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kube-scheduler/framework"
)

// recordedExtender reports the verdicts and scores of an extender.
type recordedExtender struct {
	framework.Extender
	session   *session
	key, name string
}

func (e *recordedExtender) Filter(pod *v1.Pod, nodes []framework.NodeInfo) ([]framework.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	left, failed, unresolvable, err := e.Extender.Filter(pod, nodes)
	if e.session.current.Load() == nil || !e.IsFilter() || err != nil && e.IsIgnorable() {
		return left, failed, unresolvable, err
	}
	passed := make(map[string]bool, len(left))
	for _, node := range left {
		passed[node.Node().Name] = true
	}
	for _, node := range nodes {
		name := node.Node().Name
		switch {
		case err != nil:
			e.session.set(node, framework.AsStatus(err).WithPlugin(e.key))
		case !passed[name]:
			reason := cmp.Or(unresolvable[name], failed[name], noReason)
			e.session.set(node, framework.NewStatus(framework.Unschedulable, reason).WithPlugin(e.key))
		}
	}
	return left, failed, unresolvable, err
}

const noReason = "the extender rejected it without a reason"

// Prioritize runs on a goroutine for each extender.
func (e *recordedExtender) Prioritize(pod *v1.Pod, nodes []framework.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	list, weight, err := e.Extender.Prioritize(pod, nodes)
	c := e.session.current.Load()
	if err == nil && list != nil && c != nil && e.IsPrioritizer() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.scoring != nil {
			c.scoring.add(e.name, weight, *list)
		}
	}
	return list, weight, err
}
