package simulator

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Snapshot is what kube-scheduler-simulator exports and imports, field by field.
type Snapshot struct {
	Pods            []v1.Pod                     `json:"pods"`
	Nodes           []v1.Node                    `json:"nodes"`
	PVs             []v1.PersistentVolume        `json:"pvs"`
	PVCs            []v1.PersistentVolumeClaim   `json:"pvcs"`
	StorageClasses  []storagev1.StorageClass     `json:"storageClasses"`
	PriorityClasses []schedulingv1.PriorityClass `json:"priorityClasses"`
	// SchedulerConfig is a KubeSchedulerConfiguration. Without one the scheduler
	// is left as it is.
	SchedulerConfig json.RawMessage `json:"schedulerConfig"`
	Namespaces      []v1.Namespace  `json:"namespaces"`
}
