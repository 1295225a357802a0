package side

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// Which pods of the file are scheduled.
const (
	Pending = "pending" // those without a node
	All     = "all"     // all, on empty nodes
)

// Modes are what [Options].Pods may be.
var Modes = []string{Pending, All}

// CheckMode fails unless a mode is one of [Modes].
func CheckMode(mode string) error {
	if slices.Contains(Modes, mode) {
		return nil
	}
	return fmt.Errorf("pods: invalid value %q: use %s", mode, strings.Join(Modes, ", "))
}

// queued reports whether a pod is scheduled in a mode, if the schedulers are ours. Static and terminating pods stay, and
// so do pods of a scheduler that no side has.
func queued(pod *v1.Pod, mode string, ours sets.Set[string]) bool {
	stays := pod.Annotations[v1.MirrorPodAnnotationKey] != "" || pod.DeletionTimestamp != nil
	return pod.Spec.NodeName == "" || mode == All && ours.Has(cmp.Or(pod.Spec.SchedulerName, v1.DefaultSchedulerName)) && !stays
}

func (s *Side) newPod(pod *v1.Pod) *Pod {
	return &Pod{
		Namespace: pod.Namespace, Name: pod.Name, Owner: s.engine.Cluster.WorkloadOf(pod),
		Requests: resource.PodRequests(pod, resource.PodResourcesOptions{}), Priority: ptr.Deref(pod.Spec.Priority, 0),
		Ended: podutil.IsPodTerminal(pod), Outcome: Outcome{State: engine.Gone},
	}
}

// Profiles are the schedulerNames of the profiles of a configuration, as far as that can be
// read: what is wrong with it is said when it is tried.
func Profiles(text []byte) (names []string) {
	if config, err := kubescheduler.Read(text); err == nil {
		for _, profile := range config.Profiles {
			names = append(names, profile.SchedulerName)
		}
	}
	if len(names) == 0 {
		return []string{v1.DefaultSchedulerName}
	}
	return names
}
