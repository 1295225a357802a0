package cluster

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/kubelet"
)

// admitByKubelet is for a new pod that names its node, which nothing schedules: its kubelet admits or rejects it, or is silent, and
// it is deleted if the node is not there.
func (c *Cluster) admitByKubelet(pod *v1.Pod) {
	node := Get[*v1.Node](c, "", pod.Spec.NodeName)
	if node == nil {
		c.LostPods.Add(1)
		c.drop(pod)
		return
	}
	limit, always := Tolerates(pod, node)
	if limit == 0 && !always { // it is evicted at once
		c.LostPods.Add(1)
	}
	if isSilent(node) {
		placed := *pod
		c.place(&placed)
		c.put(&placed)
		return
	}
	var there []*v1.Pod
	for _, other := range c.PodsOn(node.Name) {
		if other.UID != pod.UID && !podutil.IsPodTerminal(other) {
			there = append(there, other)
		}
	}
	info := framework.NewNodeInfo(there...)
	info.SetNode(node)
	pod = Get[*v1.Pod](c, pod.Namespace, pod.Name).DeepCopy() // with the claims that were made for it
	if pod == nil {
		return
	}
	filter, why, short := kubelet.Rejects(pod, info)
	if filter == "" && short == nil {
		c.start(pod)
	} else {
		c.LostPods.Add(1)
		pod.Status.Phase = v1.PodFailed
		pod.Status.Reason = filter
		pod.Status.Message = why
		if short != nil {
			pod.Status.Reason = "OutOf" + string(short.ResourceName)
			pod.Status.Message = fmt.Sprintf("%s, requested: %d, used: %d, capacity: %d", short.Reason, short.Requested, short.Used, short.Capacity)
		}
	}
	c.updateStatus(pod)
}

// Tolerates says for how long a pod tolerates the NoExecute taints of a node, or that it does so without an end.
func Tolerates(pod *v1.Pod, node *v1.Node) (limit time.Duration, always bool) {
	all, tolerations := helper.GetMatchingTolerations(klog.New(nil), NoExecute(node), pod.Spec.Tolerations)
	if !all {
		return 0, false
	}
	always = true
	for _, t := range tolerations {
		if t.TolerationSeconds == nil {
			continue
		}
		lasts := time.Duration(max(0, *t.TolerationSeconds)) * time.Second
		if always || lasts < limit {
			limit = lasts
		}
		always = false
	}
	return limit, always
}

// NoExecute are the taints of a node that evict pods.
func NoExecute(node *v1.Node) []v1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t v1.Taint) bool { return t.Effect != v1.TaintEffectNoExecute })
}
