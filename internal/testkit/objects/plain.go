package objects

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PlainNode is a node in a zone, with room and with nothing else.
func PlainNode(name, zone, cpu string) corev1.Node {
	room := Resources(cpu, "32Gi")
	room[corev1.ResourcePods] = resource.MustParse("110")
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}},
		Status:     corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

// PlainPod is a pod that asks for processors, and has no node.
func PlainPod(name, cpu string) corev1.Pod {
	requests := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/none", Resources: requests}}},
	}
}

// On is a pod that has a node.
func On(pod corev1.Pod, node string) corev1.Pod {
	pod.Spec.NodeName = node
	return pod
}
