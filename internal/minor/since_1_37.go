//go:build kubernetes_1_37 || kubernetes_1_38

package minor

import (
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	fwk "k8s.io/kube-scheduler/framework"
)

// OwnPod is the resource of events of the pending pod itself.
const OwnPod = fwk.TargetPod

// PodGroup says how many pods have to be scheduled as one.
type PodGroup = schedulingv1beta1.PodGroup

// NoPodGroups is why the pods of a PodGroup are not scheduled as one, or empty.
const NoPodGroups = ""
