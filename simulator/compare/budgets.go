package compare

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

// RunPostFilterPlugins preempts when what earlier pods have brought about is over
// and counted.
func (f *diced) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	began := time.Now()
	f.steering.awaitCounts(ctx, f.Framework, pod.UID)
	f.steering.held(pod.UID, time.Since(began))
	return f.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
}

func (s *steering) awaitCounts(ctx context.Context, profile framework.Framework, pod types.UID) {
	budgets, err := profile.SharedInformerFactory().Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	if err != nil || len(budgets) == 0 || !s.takeStirred() {
		return
	}
	looks := 0 // one more, since caches are a moment late
	_ = wait.PollUntilContextTimeout(ctx, 25*time.Millisecond, countedWithin, true, func(ctx context.Context) (bool, error) {
		if looks++; s.underWay(ctx, profile, pod) || uncounted(profile.SharedInformerFactory()) != nil {
			looks = 0
		}
		return looks > 1, nil
	})
}

// takeStirred is true if a pod was bound or pushed others out since it was last asked.
func (s *steering) takeStirred() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	stirred := s.stirred
	s.stirred = false
	return stirred
}

// underWay is true while another pod is being bound, or pushes others out.
func (s *steering) underWay(ctx context.Context, profile framework.Framework, but types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid := range s.busy {
		if uid != but {
			return true
		}
	}
	for _, plugin := range profile.PreEnqueuePlugins() {
		for _, pod := range s.pushing {
			if plugin.Name() == pluginnames.DefaultPreemption && !plugin.PreEnqueue(ctx, pod).IsSuccess() {
				return true
			}
		}
	}
	s.pushing = nil
	return false
}

// uncounted says of which budget, by these caches, the controller has yet to count
// the pods.
func uncounted(caches informers.SharedInformerFactory) error {
	budgets, err := caches.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	for _, budget := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil {
			continue // its controller cannot count it either
		}
		pods, err := caches.Core().V1().Pods().Lister().Pods(budget.Namespace).List(selector)
		if err != nil {
			return err
		}
		if err := counted(budget, pods); err != nil {
			return fmt.Errorf("budget %s/%s: %w", budget.Namespace, budget.Name, err)
		}
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
