package side

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	pluginnames "k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Budgets are counted by their controller, moments after pods come and go. Whose
// pods preemption spares would depend on these moments, and so it waits for them.

// countedWithin bounds that wait: somebody may be bound only when others are.
const countedWithin = 5 * time.Second

// RunPostFilterPlugins preempts when the changes by earlier pods are over and counted.
func (p *seededProfile) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	began := time.Now()
	p.scheduler.awaitCounts(ctx, p.Framework, pod.UID)
	p.scheduler.mu.Lock()
	p.scheduler.busy[pod.UID] = busyPod{nameOf(pod), time.Since(began)}
	p.scheduler.mu.Unlock()
	return p.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
}

func (s *pausable) awaitCounts(ctx context.Context, profile framework.Framework, pod types.UID) {
	caches := profile.SharedInformerFactory()
	if budgets, err := caches.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything()); err != nil || len(budgets) == 0 {
		return
	}
	s.mu.Lock()
	changed := s.changed
	s.changed = false
	s.mu.Unlock()
	if changed {
		awaitNot(ctx, func() bool {
			return s.changing(pod) || s.preempting(ctx) || uncounted(caches, sets.New[types.NamespacedName]()) != nil
		})
	}
}

// awaitPreemption waits until those that earlier pods push out are going. An attempt that
// begins before may push them out once more, too late to be told that they are gone, and
// its pod waits until it is activated.
func (s *pausable) awaitPreemption() {
	s.mu.Lock()
	some := len(s.preemptors) > 0
	s.mu.Unlock()
	if some {
		ctx := wait.ContextForChannel(s.StopEverything)
		awaitNot(ctx, func() bool { return s.preempting(ctx) })
	}
}

func awaitNot(ctx context.Context, still func() bool) {
	looks := 0 // one more, since caches are a moment late
	_ = wait.PollUntilContextTimeout(ctx, 25*time.Millisecond, countedWithin, true, func(context.Context) (bool, error) {
		if looks++; still() {
			looks = 0
		}
		return looks > 1, nil
	})
}

// changing is true while another pod is being bound.
func (s *pausable) changing(but types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid := range s.busy {
		if uid != but {
			return true
		}
	}
	return false
}

// preempting is true while a pod waits for its victims to go.
func (s *pausable) preempting(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pod := range s.preemptors {
		for _, plugin := range s.Profiles[pod.Spec.SchedulerName].PreEnqueuePlugins() {
			if plugin.Name() == pluginnames.DefaultPreemption && !plugin.PreEnqueue(ctx, pod).IsSuccess() {
				return true
			}
		}
	}
	s.preemptors = nil
	return false
}

// uncounted says of which budget, by these caches, the controller has yet to count
// the pods, and takes note of those that it has counted, which are not looked at again.
func uncounted(caches informers.SharedInformerFactory, done sets.Set[types.NamespacedName]) error {
	budgets, err := caches.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	for _, budget := range budgets {
		name := types.NamespacedName{Namespace: budget.Namespace, Name: budget.Name}
		if done.Has(name) {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil {
			continue // its controller cannot count it either
		}
		pods, err := caches.Core().V1().Pods().Lister().Pods(budget.Namespace).List(selector)
		if err == nil {
			err = counted(budget, pods)
		}
		if err != nil {
			return fmt.Errorf("budget %s: %w", name, err)
		}
		done.Insert(name)
	}
	return nil
}

func counted(budget *policyv1.PodDisruptionBudget, pods []*v1.Pod) error {
	healthy := int32(0)
	for _, pod := range pods {
		switch {
		case pod.DeletionTimestamp != nil || podutil.IsPodTerminal(pod):
		case podutil.IsPodReady(pod):
			healthy++
		case pod.Spec.NodeName != "":
			return fmt.Errorf("pod %s is not ready yet", pod.Name)
		}
	}
	condition := meta.FindStatusCondition(budget.Status.Conditions, policyv1.DisruptionAllowedCondition)
	switch {
	case condition == nil || budget.Status.ObservedGeneration != budget.Generation && condition.Reason != policyv1.SyncFailedReason:
		return errors.New("its pods are not counted yet")
	case condition.Reason != policyv1.SyncFailedReason && budget.Status.CurrentHealthy != healthy:
		return fmt.Errorf("%d of its pods are ready, and %d are counted", healthy, budget.Status.CurrentHealthy)
	}
	return nil
}
