package cluster

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	"k8s.io/kubernetes/pkg/util/taints"
	"k8s.io/utils/ptr"
)

// byNode is an index of pods.
const byNode = "node"

// PodsOn are the pods of a node, by name.
func (c *Cluster) PodsOn(node string) []*v1.Pod {
	all, _ := c.of(&v1.Pod{}).informer.table.ByIndex(byNode, node) // which there is
	return typed[*v1.Pod](all)
}

// Cordon has a node be unschedulable, or schedulable again.
func (c *Cluster) Cordon(name string, unschedulable bool) error {
	node := Get[*v1.Node](c, "", name)
	if node == nil {
		return c.of(node).notFound(name)
	}
	node = node.DeepCopy()
	node.Spec.Unschedulable = unschedulable
	return c.Update(node)
}

// FailNode has a node be as one whose kubelet is silent: it and its pods are not ready, and a pod that is deleted stays.
func (c *Cluster) FailNode(name string) {
	node := Get[*v1.Node](c, "", name).DeepCopy()
	node.Status.Conditions = slices.DeleteFunc(node.Status.Conditions, func(c v1.NodeCondition) bool { return c.Type == v1.NodeReady })
	now := metav1.NewTime(c.now())
	node.Status.Conditions = append(node.Status.Conditions, v1.NodeCondition{
		Type: v1.NodeReady, Status: v1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: now,
	})
	c.updateStatus(node)
	for _, pod := range c.PodsOn(name) {
		if !podutil.IsPodReady(pod) {
			continue
		}
		pod = pod.DeepCopy()
		_, ready := podutil.GetPodCondition(&pod.Status, v1.PodReady)
		ready.Status, ready.LastTransitionTime = v1.ConditionFalse, now
		c.updateStatus(pod)
	}
}

// silent says whether the kubelet of a pod's node is.
func (c *Cluster) silent(o Object) bool {
	pod, ok := o.(*v1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return false
	}
	node := Get[*v1.Node](c, "", pod.Spec.NodeName)
	return node != nil && isSilent(node)
}

// keeps says whether a pod stays when it is deleted, since the kubelet of its node is silent.
func (c *Cluster) keeps(o Object) bool {
	return c.silent(o) && !OutOfService(Get[*v1.Node](c, "", o.(*v1.Pod).Spec.NodeName))
}

// OutOfService says whether a person has said so of a node that is not ready: PodGC ends the pods there that are terminating.
func OutOfService(node *v1.Node) bool {
	return !nodeutil.IsNodeReady(node) && taints.TaintKeyExists(node.Spec.Taints, v1.TaintNodeOutOfService)
}

func isSilent(node *v1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c v1.NodeCondition) bool { return c.Type == v1.NodeReady && c.Status == v1.ConditionUnknown })
}

// Bind gives a pod a node, and has it run there, as a kubelet would.
func (c *Cluster) Bind(namespace, name, node string) error {
	pod := Get[*v1.Pod](c, namespace, name)
	switch {
	case pod == nil:
		return c.of(pod).notFound(name)
	case pod.Spec.NodeName != "":
		return apierrors.NewConflict(v1.Resource("pods/binding"), name, fmt.Errorf("pod %s is already assigned to node %q", name, pod.Spec.NodeName))
	}
	bound := *pod // which shares with it what does not change
	bound.Spec.NodeName = node
	bound.Status.Conditions = slices.Clone(pod.Status.Conditions)
	c.place(&bound)
	if c.NotStarted(&bound) == "" {
		c.start(&bound)
	}
	c.put(&bound)
	return nil
}

// place gives a pod that has got a node the time of that, which kube-scheduler chooses victims by: of a pod without one, and a silent kubelet
// sets none, it takes the time of the machine.
func (c *Cluster) place(pod *v1.Pod) { pod.Status.StartTime = ptr.To(metav1.NewTime(c.now())) }

// start makes a pod, of which there is no other user, running and ready.
func (c *Cluster) start(pod *v1.Pod) {
	c.place(pod)
	now := *pod.Status.StartTime
	pod.Status.Phase, pod.Status.NominatedNodeName = v1.PodRunning, ""
	for _, is := range []v1.PodConditionType{v1.PodScheduled, v1.PodInitialized, v1.ContainersReady, v1.PodReady} {
		podutil.UpdatePodCondition(&pod.Status, &v1.PodCondition{Type: is, Status: v1.ConditionTrue})
	}
	for i := range pod.Status.Conditions {
		pod.Status.Conditions[i].LastTransitionTime = now // UpdatePodCondition takes that of this machine
	}
}

// Delete deletes an object at once, with what goes with it. A pod with finalizers goes when controllers have taken these away, and one
// of a node whose kubelet is silent stays. The finalizers of other objects belong to controllers that are not here, such as Karpenter's of nodes,
// and hold nothing.
func (c *Cluster) Delete(o Object) {
	now := c.of(o).get(o.GetNamespace(), o.GetName())
	if now == nil {
		return
	}
	_, isPod := now.(*v1.Pod)
	if isPod && len(now.GetFinalizers()) > 0 || c.keeps(now) {
		c.terminate(now)
		return
	}
	c.drop(now)
}

// Remove removes a pod at once, whatever holds it.
func (c *Cluster) Remove(pod *v1.Pod) {
	now := Get[*v1.Pod](c, pod.Namespace, pod.Name)
	if now != nil {
		c.drop(now)
	}
}

// Terminating is why a pod that is being deleted is still there, or empty.
func (c *Cluster) Terminating(pod *v1.Pod) string {
	now := Get[*v1.Pod](c, pod.Namespace, pod.Name)
	switch {
	case now == nil || now.UID != pod.UID || now.DeletionTimestamp == nil:
		return ""
	case len(now.Finalizers) > 0:
		return "it stays terminating until its finalizer " + now.Finalizers[0] + " is removed"
	}
	return "it stays terminating, since the kubelet of its node does not answer: delete the node, or taint it " + v1.TaintNodeOutOfService
}

// follow does what controllers would after a write.
func (c *Cluster) follow(e event) {
	c.recountQuotas(e)
	if c.loading {
		return
	}
	switch o := e.object().(type) {
	case *v1.Pod:
		if e.old == nil {
			c.claimVolumes(o)
			c.claimDevices(o)
		} else if e.new == nil || podutil.IsPodTerminal(o) {
			c.release(o)
			c.detach(o)
		}
	case *v1.Node:
		old, ok := e.old.(*v1.Node)
		if ok && e.new != nil && isSilent(old) && !isSilent(o) {
			c.startPending(c.PodsOn(o.Name))
		}
	case *resourcev1.ResourceClaimTemplate:
		for _, pod := range All[*v1.Pod](c) {
			c.claimDevices(pod)
		}
	case *appsv1.Deployment, *appsv1.ReplicaSet, *appsv1.StatefulSet, *appsv1.DaemonSet, *batchv1.Job, *v1.ReplicationController:
		if e.new == nil {
			c.collect(o)
		}
	case *v1.PersistentVolumeClaim:
		if e.new == nil {
			c.reclaim(o)
		} else if o.Spec.VolumeName == "" {
			c.bindAtOnce(o)
		}
	case *v1.PersistentVolume:
		ref := o.Spec.ClaimRef
		if e.old == nil && ref == nil {
			c.bindAllAtOnce()
		} else if e.old == nil {
			claim := Get[*v1.PersistentVolumeClaim](c, ref.Namespace, ref.Name)
			if claim != nil {
				c.bindAtOnce(claim)
			}
		}
	}
}

// collect deletes what an owner that is gone has controlled, as Kubernetes' garbage collector does.
func (c *Cluster) collect(owner Object) {
	for _, none := range []Object{&appsv1.ReplicaSet{}, &appsv1.ControllerRevision{}, &batchv1.Job{}, &v1.Pod{}} {
		all, _ := c.of(none).informer.table.ByIndex(cache.NamespaceIndex, owner.GetNamespace()) // which there is
		for _, o := range typed[Object](all) {
			if metav1.IsControlledBy(o, owner) {
				c.Delete(o)
			}
		}
	}
}

// object is the new one, or else the old one.
func (e event) object() Object {
	if e.new != nil {
		return e.new
	}
	return e.old
}

func ownedBy(pod *v1.Pod) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(pod, v1.SchemeGroupVersion.WithKind("Pod"))}
}
