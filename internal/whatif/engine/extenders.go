package engine

import (
	"errors"
	"maps"
	"net/url"
	"slices"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// listened is an extender whose silence is noted: kube-scheduler goes on without one that is ignorable, and without the
// scores of any.
type listened struct {
	fwk.Extender
	engine *Engine
	shown  string
}

// note takes note of an error that is no answer of the extender's.
func (l *listened) note(err error) {
	unanswered := (*url.Error)(nil)
	if errors.As(err, &unanswered) {
		l.engine.mu.Lock()
		defer l.engine.mu.Unlock()
		l.engine.unanswered[l.shown] = unanswered.Err
	}
}

// Filter implements fwk.Extender.
func (l *listened) Filter(pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	left, failed, unresolvable, err := l.Extender.Filter(pod, nodes)
	l.note(err)
	return left, failed, unresolvable, err
}

// Prioritize implements fwk.Extender.
func (l *listened) Prioritize(pod *v1.Pod, nodes []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	list, weight, err := l.Extender.Prioritize(pod, nodes)
	l.note(err)
	return list, weight, err
}

// ProcessPreemption implements fwk.Extender.
func (l *listened) ProcessPreemption(pod *v1.Pod, victims map[string]*extenderv1.Victims, nodes fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	left, err := l.Extender.ProcessPreemption(pod, victims, nodes)
	l.note(err)
	return left, err
}

// Unanswered says which extenders did not answer, and why, sorted.
func (e *Engine) Unanswered() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, extender := range slices.Sorted(maps.Keys(e.unanswered)) {
		all = append(all, "extender "+extender+" did not answer: "+e.unanswered[extender].Error())
	}
	return all
}
