package simulator

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Annotations are the keys under which the scheduler that runs, under the given
// name, reads a pod's regex, and those of what to exclude. There is none if it has
// no plugin that does. Guests and extenders of others are assumed to read the same
// keys as ours.
func (s *Simulator) Annotations(scheduler string) (keys, excluding []string) {
	return annotations(s.SchedulerConfig(), scheduler)
}

func annotations(text []byte, scheduler string) (keys, excluding []string) {
	all, allExcluding := sets.Set[string]{}, sets.Set[string]{}
	config, err := kubescheduler.Read(text)
	if err == nil { // else it would not run
		for _, reads := range config.Readers(scheduler) {
			all.Insert(reads.Policy.Annotation)
			allExcluding.Insert(reads.Policy.ExcludeAnnotation)
		}
	}
	return sets.List(all), sets.List(allExcluding)
}

// Preview returns the names of the nodes that a pod with a pattern, and one of the nodes to exclude,
// might run on now, sorted, and how many nodes there are. Either may be nil. The error is a
// *regex.PatternError if it is a pattern that is wrong.
func (s *Simulator) Preview(pattern, exclude *string) (matches []string, total int, err error) {
	annotations := map[string]string{}
	for key, value := range map[string]*string{regex.Annotation: pattern, regex.ExcludeAnnotation: exclude} {
		if value != nil {
			annotations[key] = *value
		}
	}
	rules, err := regex.Default.Compile(annotations)
	if err != nil {
		return nil, 0, err
	}
	nodes, err := s.informers.Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return nil, 0, fmt.Errorf("list nodes: %w", err)
	}
	for _, node := range nodes {
		if rules.Judge(node.Name) == regex.Qualifies {
			matches = append(matches, node.Name)
		}
	}
	slices.Sort(matches)
	return matches, len(nodes), nil
}

// warnOfPatterns makes a scheduler tell, in an event, of patterns that look like something
// else, such as a hostlist, where guests and extenders read them: those do not say so. The
// native plugin does.
func warnOfPatterns(sched *scheduler.Scheduler, config *kubescheduler.Configuration) {
	policies := map[string][]regex.Policy{}
	for name := range sched.Profiles {
		policies[name] = readByOthers(config, name)
	}
	next := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, of framework.Framework, state fwk.CycleState, queued *hooks.Queued) (scheduler.ScheduleResult, error) {
		pod := hooks.PodOf(queued)
		for _, policy := range policies[of.ProfileName()] {
			note := dialect.EventNote(policy, pod.Annotations)
			_, refused := policy.Compile(pod.Annotations)
			if note != "" && refused == nil {
				of.EventRecorder().Eventf(pod, nil, v1.EventTypeWarning, dialect.EventReason, dialect.EventAction, "%s", note)
			}
		}
		return next(ctx, of, state, queued)
	}
}

// readByOthers are the policies of a scheduler that are not the native plugin's.
func readByOthers(config *kubescheduler.Configuration, scheduler string) []regex.Policy {
	all := map[bool]sets.Set[regex.Policy]{true: {}, false: {}} // by whether the native plugin reads them
	for _, reads := range config.Readers(scheduler) {
		all[reads.Native].Insert(reads.Policy)
	}
	return all[false].Difference(all[true]).UnsortedList()
}
