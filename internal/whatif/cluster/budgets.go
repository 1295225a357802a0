package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"
)

// recount takes note of the budgets and quotas that a write concerns. They are counted when somebody asks.
func (c *Cluster) recount(e event) {
	c.recountQuotas(e)
	switch o := e.object().(type) {
	case *v1.Pod:
		for _, budget := range c.budgetsOf(o) {
			c.budgets[NameOf(budget)] = true
		}
	case *policyv1.PodDisruptionBudget:
		old, ok := e.old.(*policyv1.PodDisruptionBudget)
		if e.new != nil && (!ok || old.Generation != o.Generation) {
			c.budgets[NameOf(o)] = true
		}
	}
}

// budgetsOf are the budgets whose selector matches a pod.
func (c *Cluster) budgetsOf(pod *v1.Pod) (all []*policyv1.PodDisruptionBudget) {
	for _, budget := range in[*policyv1.PodDisruptionBudget](c, pod.Namespace) {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			all = append(all, budget)
		}
	}
	return all
}

// CountBudgets writes down how many disruptions each budget allows, of those whose pods
// have changed.
func (c *Cluster) CountBudgets() {
	if c.controlled {
		clear(c.budgets)
		return
	}
	changed := slices.SortedFunc(maps.Keys(c.budgets), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	clear(c.budgets)
	for _, name := range changed {
		budget := Get[*policyv1.PodDisruptionBudget](c, name.Namespace, name.Name)
		if budget != nil {
			counted := budget.DeepCopy()
			c.count(counted)
			c.put(counted)
		}
	}
}

// count is what the controller of budgets does.
func (c *Cluster) count(b *policyv1.PodDisruptionBudget) {
	expected, desired, healthy, err := c.expect(b)
	b.Status.DisruptionsAllowed = max(0, healthy-desired)
	if expected <= 0 || err != nil {
		b.Status.DisruptionsAllowed = 0
	}
	if err == nil {
		b.Status.ObservedGeneration = b.Generation
		b.Status.ExpectedPods, b.Status.DesiredHealthy, b.Status.CurrentHealthy = expected, desired, healthy
	}
	condition := metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionTrue, Reason: policyv1.SufficientPodsReason, ObservedGeneration: b.Generation}
	if b.Status.DisruptionsAllowed == 0 {
		condition.Status, condition.Reason = metav1.ConditionFalse, policyv1.InsufficientPodsReason
	}
	if err != nil {
		condition.Reason, condition.Message = policyv1.SyncFailedReason, err.Error()
	}
	meta.SetStatusCondition(&b.Status.Conditions, condition)
}

func (c *Cluster) expect(b *policyv1.PodDisruptionBudget) (expected, desired, healthy int32, err error) {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return 0, 0, 0, err
	}
	pods := c.podsOf(b.Namespace, selector)
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil && podutil.IsPodReady(pod) {
			healthy++
		}
	}
	switch most, least := b.Spec.MaxUnavailable, b.Spec.MinAvailable; {
	case most != nil:
		expected, err := c.scale(pods)
		allowed, wrong := intstr.GetScaledValueFromIntOrPercent(most, int(expected), true)
		return expected, max(0, expected-int32(allowed)), healthy, cmp.Or(err, wrong)
	case least != nil && least.Type == intstr.Int:
		return int32(len(pods)), least.IntVal, healthy, nil
	case least != nil:
		expected, err := c.scale(pods)
		needed, wrong := intstr.GetScaledValueFromIntOrPercent(least, int(expected), true)
		return expected, int32(needed), healthy, cmp.Or(err, wrong)
	}
	return 0, 0, healthy, nil
}

func (c *Cluster) podsOf(namespace string, selector labels.Selector) (pods []*v1.Pod) {
	for _, pod := range in[*v1.Pod](c, namespace) {
		if selector.Matches(labels.Set(pod.Labels)) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// scale is how many pods their controllers want. An unknown controller wants the pods that it
// has; of Jobs and DaemonSets Kubernetes does not say it.
func (c *Cluster) scale(pods []*v1.Pod) (expected int32, err error) {
	seen := map[types.UID]bool{}
	for _, pod := range pods {
		owner := metav1.GetControllerOf(pod)
		if owner == nil {
			continue
		}
		if owner.Kind == "Job" || owner.Kind == "DaemonSet" {
			return 0, fmt.Errorf("%ss do not implement the scale subresource", owner.Kind)
		}
		uid, replicas, known := c.controller(pod.Namespace, owner)
		if !known {
			expected++
		} else if !seen[uid] {
			seen[uid] = true
			expected += replicas
		}
	}
	return expected, nil
}

func (c *Cluster) controller(namespace string, owner *metav1.OwnerReference) (uid types.UID, replicas int32, known bool) {
	switch set := c.owner(namespace, owner).(type) {
	case *appsv1.ReplicaSet:
		above := metav1.GetControllerOf(set)
		if above != nil && above.Kind == "Deployment" {
			d := Get[*appsv1.Deployment](c, namespace, above.Name)
			if d != nil {
				return d.UID, ptr.Deref(d.Spec.Replicas, 1), true
			}
		}
		return set.UID, ptr.Deref(set.Spec.Replicas, 1), true
	case *appsv1.StatefulSet:
		return set.UID, ptr.Deref(set.Spec.Replicas, 1), true
	case *v1.ReplicationController:
		return set.UID, ptr.Deref(set.Spec.Replicas, 1), true
	}
	return "", 0, false
}

// Evict deletes a pod, if its budget allows it, by the rules of an API server.
func (c *Cluster) Evict(namespace, name string) error {
	pod := Get[*v1.Pod](c, namespace, name)
	if pod == nil {
		return c.of(pod).notFound(name)
	}
	if pod.Status.Phase != v1.PodPending && !podutil.IsPodTerminal(pod) && pod.DeletionTimestamp == nil {
		c.CountBudgets()
		if err := mayGo(pod, c.budgetsOf(pod)); err != nil {
			return err
		}
	}
	if c.controlled {
		c.countEviction(pod)
		c.Delete(pod)
		return nil
	}
	c.drop(pod)
	return nil
}

// countEviction takes an eviction off what a budget allows, until its controller has counted again.
func (c *Cluster) countEviction(pod *v1.Pod) {
	for _, budget := range c.budgetsOf(pod) {
		counted := budget.DeepCopy()
		counted.Status.DisruptionsAllowed = max(0, counted.Status.DisruptionsAllowed-1)
		if counted.Status.DisruptedPods == nil {
			counted.Status.DisruptedPods = map[string]metav1.Time{}
		}
		counted.Status.DisruptedPods[pod.Name] = metav1.NewTime(c.now())
		c.put(counted)
	}
}

func mayGo(pod *v1.Pod, budgets []*policyv1.PodDisruptionBudget) error {
	if len(budgets) == 0 {
		return nil
	}
	if len(budgets) > 1 {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
		}}
	}
	b := budgets[0]
	unready := !podutil.IsPodReady(pod)
	always := ptr.Deref(b.Spec.UnhealthyPodEvictionPolicy, policyv1.IfHealthyBudget) == policyv1.AlwaysAllow
	if unready && (always || b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0) || b.Status.DisruptionsAllowed > 0 {
		return nil
	}
	why := fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name)
	counted := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	if counted != nil && counted.Reason == policyv1.SyncFailedReason {
		why += " because it failed sync: " + counted.Message
	} else if b.Status.CurrentHealthy <= b.Status.DesiredHealthy {
		why = fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	}
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: why})
	return err
}
