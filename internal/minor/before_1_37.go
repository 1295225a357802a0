//go:build !kubernetes_1_37 && !kubernetes_1_38

package minor

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// OwnPod is the resource of events of the pending pod itself. Here it has none of its
// own, so that a hint must pass over the events of others.
const OwnPod = fwk.Pod

// PodGroup stands for what no snapshot has here.
type PodGroup = metav1.PartialObjectMetadata

// NoPodGroups is why the pods of a PodGroup are not scheduled as one, or empty.
const NoPodGroups = "that needs Kubernetes 1.37"
