package cluster

import (
	"fmt"
	"net/http"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"
)

// budgetsOf are the budgets whose selector matches a pod.
func (c *Cluster) budgetsOf(pod *v1.Pod) (all []*policyv1.PodDisruptionBudget) {
	for _, budget := range In[*policyv1.PodDisruptionBudget](c, pod.Namespace) {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			all = append(all, budget)
		}
	}
	return all
}

// Evict deletes a pod, if its budget allows it, by the rules of an API server.
func (c *Cluster) Evict(namespace, name string) error {
	pod := Get[*v1.Pod](c, namespace, name)
	if pod == nil {
		return c.of(pod).notFound(name)
	}
	if pod.Status.Phase != v1.PodPending && !podutil.IsPodTerminal(pod) && pod.DeletionTimestamp == nil {
		if err := mayGo(pod, c.budgetsOf(pod)); err != nil {
			return err
		}
	}
	c.countEviction(pod)
	c.Disrupt(pod, "EvictionByEvictionAPI")
	return nil
}

// Disrupt deletes a pod, with the condition by which the policy of its Job knows that this is no failure of its own.
func (c *Cluster) Disrupt(pod *v1.Pod, reason string) {
	if len(pod.Finalizers) > 0 { // or else it is gone before anything reads it
		pod = pod.DeepCopy()
		if podutil.UpdatePodCondition(&pod.Status, &v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: reason}) {
			_, condition := podutil.GetPodCondition(&pod.Status, v1.DisruptionTarget)
			condition.LastTransitionTime = metav1.NewTime(c.now()) // UpdatePodCondition takes that of this machine
			c.updateStatus(pod)
		}
	}
	c.Delete(pod)
}

// countEviction takes an eviction off what a budget allows, until its controller has counted again. The pod goes at once: among
// its disruptedPods, a StatefulSet's next pod of that name would be taken for it.
func (c *Cluster) countEviction(pod *v1.Pod) {
	for _, budget := range c.budgetsOf(pod) {
		counted := budget.DeepCopy()
		counted.Status.DisruptionsAllowed = max(0, counted.Status.DisruptionsAllowed-1)
		c.updateStatus(counted)
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
