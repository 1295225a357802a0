//go:build kubernetes_1_37

package minor

import fwk "k8s.io/kube-scheduler/framework"

// OwnPod is the resource of events of the very pod that waits.
const OwnPod = fwk.TargetPod

// Sorted is what a fwk.QueueSortPlugin compares, for plugins that tests make.
type Sorted = fwk.QueuedEntityInfo
