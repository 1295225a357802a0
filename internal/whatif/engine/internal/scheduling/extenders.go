package scheduling

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// unanswered are the errors of extenders that did not answer, by their names.
type unanswered struct {
	mu     sync.Mutex // kube-scheduler asks for scores on goroutines
	errors map[string]error
}

// Unanswered says which extenders did not answer, and why, sorted.
func (s *Scheduler) Unanswered() (all []string) {
	s.unanswered.mu.Lock()
	defer s.unanswered.mu.Unlock()
	for _, extender := range slices.Sorted(maps.Keys(s.unanswered.errors)) {
		all = append(all, "extender "+extender+" did not answer: "+s.unanswered.errors[extender].Error())
	}
	return all
}

// watchedExtender keeps whether an extender did not answer: kube-scheduler goes on without one that is ignorable, and without
// the scores of any.
type watchedExtender struct {
	fwk.Extender
	name       string
	unanswered *unanswered
}

func (w *watchedExtender) keep(err error) {
	unsent := (*url.Error)(nil)
	if !errors.As(err, &unsent) {
		return
	}
	w.unanswered.mu.Lock()
	defer w.unanswered.mu.Unlock()
	if w.unanswered.errors == nil {
		w.unanswered.errors = map[string]error{}
	}
	w.unanswered.errors[w.name] = unsent.Err
}

// Filter implements fwk.Extender.
func (w *watchedExtender) Filter(pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	left, failed, unresolvable, err := w.Extender.Filter(pod, nodes)
	w.keep(err)
	return left, failed, unresolvable, err
}

// Prioritize implements fwk.Extender.
func (w *watchedExtender) Prioritize(pod *v1.Pod, nodes []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	list, weight, err := w.Extender.Prioritize(pod, nodes)
	w.keep(err)
	return list, weight, err
}

// ProcessPreemption implements fwk.Extender.
func (w *watchedExtender) ProcessPreemption(pod *v1.Pod, victims map[string]*extenderv1.Victims, nodes fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	left, err := w.Extender.ProcessPreemption(pod, victims, nodes)
	w.keep(err)
	return left, err
}
