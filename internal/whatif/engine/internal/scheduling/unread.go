package scheduling

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// UnreadError has the pods whose regex nothing in the configuration reads, and the keys of the annotations that it reads of them.
type UnreadError struct{ Pods, Reads []string }

func (e *UnreadError) Error() string {
	return fmt.Sprintf("nothing in the configuration reads the regex of %d pods", len(e.Pods))
}

// findReaders finds which annotations are read in each profile.
func (s *Scheduler) findReaders() {
	s.policies = map[string][]regex.Policy{}
	known := inTree.Clone()
	for name := range s.Kube.Profiles {
		for _, reader := range s.options.Config.Readers(name) {
			known.Insert(reader.Plugin)
			if !slices.Contains(s.policies[name], reader.Policy) {
				s.policies[name] = append(s.policies[name], reader.Policy)
			}
		}
	}
	s.otherReader = map[string]bool{}
	for name, only := range profilesWithOnly(s.Kube, known) {
		s.otherReader[name] = !only
	}
}

// Policies are the policies of the plugins that read a pod's regex. A plugin or an extender of others may read what ours do.
func (s *Scheduler) Policies(pod *v1.Pod) []regex.Policy {
	all := s.policies[pod.Spec.SchedulerName]
	if len(all) == 0 && s.otherReader[pod.Spec.SchedulerName] {
		return []regex.Policy{regex.Default}
	}
	return all
}

// Keys are the keys of the annotations that the configuration reads of pods: first those by which a pod requires nodes.
func (s *Scheduler) Keys(pods []*v1.Pod) (keys []string) {
	for role := range regex.Roles {
		for _, pod := range pods {
			for _, policy := range s.policies[pod.Spec.SchedulerName] {
				if !slices.Contains(keys, policy.Key(role)) {
					keys = append(keys, policy.Key(role))
				}
			}
		}
	}
	return keys
}

// isUnread says whether a pod has a regex under a key of [regex.Default], nothing in its profile reads that, and the pod has none that
// is read in its place, as while the annotation is renamed.
func (s *Scheduler) isUnread(pod *v1.Pod) bool {
	if s.otherReader[pod.Spec.SchedulerName] {
		return false
	}
	for role := range regex.Roles {
		reads := func(p regex.Policy) bool {
			return p.Key(role) == regex.Default.Key(role) || pod.Annotations[p.Key(role)] != ""
		}
		if pod.Annotations[regex.Default.Key(role)] != "" && !slices.ContainsFunc(s.policies[pod.Spec.SchedulerName], reads) {
			return true
		}
	}
	return false
}

// noteRegex takes note of a pod that is tried: whether its regex is read.
func (s *Scheduler) noteRegex(pod *v1.Pod) {
	isSet := func(key string) bool { return pod.Annotations[key] != "" }
	switch {
	case s.isUnread(pod):
		s.ignored.Insert(cluster.NameOf(pod).String())
	case slices.ContainsFunc(s.Policies(pod), func(p regex.Policy) bool { return slices.ContainsFunc(p.Keys(), isSet) }):
		s.read.Insert(cluster.NameOf(pod).String())
	}
}

// Ignored are the pods that were scheduled without their regex, which nothing in the configuration reads.
func (s *Scheduler) Ignored() []string { return sets.List(s.ignored) }

// Read are the pods that were scheduled with a regex that the configuration reads.
func (s *Scheduler) Read() []string { return sets.List(s.read) }
