// Package registry has the strategies by which an API server prepares and validates objects: Kubernetes' own, of each of its minors.
package registry

import (
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/service"
	noderuntimeclass "k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
)

// Strategies prepare and validate objects of a kind, and what is written of their status alone.
type Strategies struct{ Object, Status rest.RESTCreateUpdateStrategy }

// New returns the strategies of kinds that scheduling depends on, by their names.
func New(client kubernetes.Interface) map[string]Strategies {
	namespaces := client.CoreV1().Namespaces()
	all := map[string]Strategies{
		"Namespace":             {namespace.Strategy, namespace.StatusStrategy},
		"Pod":                   {pod.Strategy, pod.StatusStrategy},
		"Node":                  {node.Strategy, node.StatusStrategy},
		"Service":               {service.Strategy, service.StatusStrategy},
		"LimitRange":            {Object: limitrange.Strategy},
		"ResourceQuota":         {resourcequota.Strategy, resourcequota.StatusStrategy},
		"PersistentVolume":      {persistentvolume.Strategy, persistentvolume.StatusStrategy},
		"PersistentVolumeClaim": {persistentvolumeclaim.Strategy, persistentvolumeclaim.StatusStrategy},
		"ReplicationController": {replicationcontroller.Strategy, replicationcontroller.StatusStrategy},
		"ControllerRevision":    {Object: controllerrevision.Strategy},
		"Deployment":            {deployment.Strategy, deployment.StatusStrategy},
		"ReplicaSet":            {replicaset.Strategy, replicaset.StatusStrategy},
		"StatefulSet":           {statefulset.Strategy, statefulset.StatusStrategy},
		"DaemonSet":             {daemonset.Strategy, daemonset.StatusStrategy},
		"Job":                   {job.Strategy, job.StatusStrategy},
		"CronJob":               {cronjob.Strategy, cronjob.StatusStrategy},
		"PodDisruptionBudget":   {poddisruptionbudget.Strategy, poddisruptionbudget.StatusStrategy},
		"PriorityClass":         {Object: priorityclass.Strategy},
		"RuntimeClass":          {Object: noderuntimeclass.Strategy},
		"StorageClass":          {Object: storageclass.Strategy},
		"CSIDriver":             {Object: csidriver.Strategy},
		"CSINode":               {Object: csinode.Strategy},
		"CSIStorageCapacity":    {Object: csistoragecapacity.Strategy},
		"VolumeAttachment":      {volumeattachment.Strategy, volumeattachment.StatusStrategy},
		"DeviceClass":           {Object: deviceclass.Strategy},
		"DeviceTaintRule":       {devicetaintrule.Strategy, devicetaintrule.StatusStrategy},
		"ResourceSlice":         {Object: resourceslice.Strategy},
		"ResourceClaimTemplate": {Object: resourceclaimtemplate.NewStrategy(namespaces)},
	}
	claim, claimStatus := resourceClaim(namespaces)
	all["ResourceClaim"] = Strategies{claim, claimStatus}
	group, groupStatus := podGroup()
	all["PodGroup"] = Strategies{group, groupStatus}
	return all
}
