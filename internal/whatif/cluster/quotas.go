package cluster

import (
	"reflect"
	"time"

	v1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/utils/clock"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/controlplane"
)

// quotaClock has the time of the cluster.
type quotaClock struct {
	clock.RealClock
	now func() time.Time
}

// Now implements clock.PassiveClock.
func (c quotaClock) Now() time.Time { return c.now() }

// newQuotas is what counts objects as Kubernetes does: pods by the time of the cluster, and kinds without an evaluator by their number.
func (c *Cluster) newQuotas() (quota.Registry, error) {
	lister := generic.ListerFuncForResourceFunc(c.Informers.ForResource)
	counts, err := controlplane.Quotas(lister, c.Informers)
	if err != nil {
		return nil, err
	}
	all := generic.NewRegistry(append(counts.Evaluators(), core.NewPodEvaluator(lister, quotaClock{now: c.now})))
	for resource, k := range c.byName {
		if k.namespaced && all.Get(resource.GroupResource()) == nil {
			all.Add(generic.NewObjectCountEvaluator(resource.GroupResource(), generic.ListResourceUsingListerFunc(lister, resource), ""))
		}
	}
	return all, nil
}

// limit rejects a new object that is too much for the quotas of its namespace, or else counts it.
func (c *Cluster) limit(of admission.Attributes) error {
	namespace := of.GetNamespace()
	evaluator := c.quotas.Get(of.GetResource().GroupResource())
	if evaluator == nil {
		return nil
	}
	c.countQuotas(namespace)
	before := []v1.ResourceQuota{}
	for _, q := range In[*v1.ResourceQuota](c, namespace) {
		before = append(before, *q.DeepCopy())
	}
	if len(before) == 0 {
		return nil
	}
	after, err := resourcequota.CheckRequest(before, of, evaluator, nil)
	if err != nil {
		c.setCounted(namespace, false) // a pod that stays terminating counts only until its grace period is over
		return err
	}
	for i := range after {
		if !quota.Equals(before[i].Status.Used, after[i].Status.Used) {
			c.updateStatus(&after[i])
		}
	}
	return nil
}

// countQuotas counts what a namespace has, as the controller of quotas does, unless nothing has made room since.
func (c *Cluster) countQuotas(namespace string) {
	c.mu.Lock()
	counted := c.counted[namespace]
	c.mu.Unlock()
	if counted {
		return
	}
	for _, q := range In[*v1.ResourceQuota](c, namespace) {
		counted := q.DeepCopy()
		used, err := quota.CalculateUsage(namespace, q.Spec.Scopes, q.Spec.Hard, c.quotas, q.Spec.ScopeSelector)
		if err != nil {
			c.Unmodelled("count all that ResourceQuota " + namespace + "/" + q.Name + " limits: " + err.Error())
		}
		counted.Status = v1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: used}
		if !apiequality.Semantic.DeepEqual(q.Status, counted.Status) { // or else a rejection would be progress
			c.updateStatus(counted)
		}
	}
	c.setCounted(namespace, true)
}

func (c *Cluster) setCounted(namespace string, counted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counted[namespace] = counted
}

// recountQuotas takes note of a write after which quotas have to be counted again. New objects are counted when they are
// admitted.
func (c *Cluster) recountQuotas(e event) {
	namespace := e.object().GetNamespace()
	again := e.new == nil || c.loading
	switch o := e.new.(type) {
	case *v1.ResourceQuota:
		old, ok := e.old.(*v1.ResourceQuota)
		again = !ok || !reflect.DeepEqual(old.Spec, o.Spec)
	case *v1.Pod:
		old, ok := e.old.(*v1.Pod)
		again = again || ok && len(In[*v1.ResourceQuota](c, namespace)) > 0 && (podutil.IsPodTerminal(old) != podutil.IsPodTerminal(o) ||
			!quota.Equals(resource.PodRequests(old, resource.PodResourcesOptions{}), resource.PodRequests(o, resource.PodResourcesOptions{})))
	}
	if again {
		c.setCounted(namespace, false)
	}
}
