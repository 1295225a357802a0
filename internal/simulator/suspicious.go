package simulator

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	kubescheduler "wasmkwokwizardry.io/regex-scheduling/scheduler"
)

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
			_, refused := policy.Selector(pod.Annotations)
			if note != "" && refused == nil {
				of.EventRecorder().Eventf(pod, nil, v1.EventTypeWarning, dialect.EventReason, dialect.EventAction, "%s", note)
			}
		}
		return next(ctx, of, state, queued)
	}
}

// readByOthers are the policies of a scheduler that are not the native plugin's.
func readByOthers(config *kubescheduler.Configuration, scheduler string) []regex.Policy {
	others, native := sets.Set[regex.Policy]{}, sets.Set[regex.Policy]{}
	eachPolicy(config, scheduler, func(policy regex.Policy, isNative bool) {
		if isNative {
			native.Insert(policy)
		} else {
			others.Insert(policy)
		}
	})
	return others.Difference(native).UnsortedList()
}
