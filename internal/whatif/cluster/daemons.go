package cluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/daemon/util"
)

// Daemon is the pod that a DaemonSet would have on a node, or nil if it would have none.
func Daemon(set *appsv1.DaemonSet, node *v1.Node) *v1.Pod {
	runs, _ := daemon.NodeShouldRunDaemonPod(klog.Background(), node, set)
	if !runs {
		return nil
	}
	template := set.Spec.Template.DeepCopy()
	pod := &v1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.Name = set.Namespace, set.Name+"-"+node.Name
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	util.AddOrUpdateDaemonPodTolerations(&pod.Spec)
	pod.Spec.Affinity = util.ReplaceDaemonSetPodNodeNameNodeAffinity(pod.Spec.Affinity, node.Name)
	return pod
}

// runDaemons makes the pods of DaemonSets on a node that is new.
func (c *Cluster) runDaemons(node *v1.Node) {
	for _, set := range All[*appsv1.DaemonSet](c) {
		pod := Daemon(set, node)
		if pod == nil {
			continue
		}
		if _, err := c.Create(context.Background(), pod); err != nil {
			c.Unmodelled(fmt.Sprintf("pod %s/%s: %v", pod.Namespace, pod.Name, err))
		}
	}
}
