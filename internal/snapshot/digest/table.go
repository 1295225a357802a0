package digest

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// table says how text is replaced, by type and field of Kubernetes' API. In the fields that are named it stays, since Kubernetes
// decides by them; a * names all fields. A field with a minus is dropped. In each other field, and in one that Kubernetes gets
// tomorrow, it becomes a digest. What stays in a field stays in all below it, unless their type has a line.
// Of a field with = the text stays that an API server sets, which a manifest has or lacks.
//
// Reasons, numbers, quantities, times and words of the API stay everywhere, and messages are dropped.
var table = map[string]string{
	"ObjectMeta":    "name generateName namespace labels ownerReferences finalizers -managedFields -selfLink",
	"LabelSelector": "*",
	"TypeMeta":      "*",

	"PodSpec": `nodeName schedulerName schedulingGates nodeSelector affinity tolerations topologySpreadConstraints priorityClassName
		runtimeClassName resourceClaims schedulingGroup hostname hostnameOverride subdomain securityContext serviceAccountName=default serviceAccount=default`,
	"WindowsSecurityContextOptions": "",
	"Container":                     "name image securityContext terminationMessagePath=" + v1.TerminationMessagePathDefault,
	"EphemeralContainer":            "targetContainerName",
	"EphemeralContainerCommon":      "name image securityContext terminationMessagePath=" + v1.TerminationMessagePathDefault,
	"HTTPGetAction":                 "path=/",
	"ContainerPort":                 "name hostIP",
	"ResourceClaim":                 "name request",
	"ObjectFieldSelector":           "*",
	"ResourceFieldSelector":         "*",
	"FileKeySelector":               "volumeName",
	"VolumeMount":                   "name",
	"VolumeDevice":                  "name",
	"PodStatus": `nominatedNodeName resourceClaimStatuses extendedResourceClaimStatus nodeAllocatableResourceClaimStatuses
		-podIP -podIPs -hostIP -hostIPs`,
	"ContainerStatus": "name image -allocatedResourcesStatus",

	// Of where a volume is, that by which limits and conflicts are counted.
	"Volume":                            "name",
	"VolumeSource":                      "gcePersistentDisk awsElasticBlockStore azureDisk",
	"PersistentVolumeSource":            "gcePersistentDisk awsElasticBlockStore azureDisk",
	"PersistentVolumeClaimVolumeSource": "claimName",
	"RBDVolumeSource":                   "monitors image fsType pool keyring user",
	"RBDPersistentVolumeSource":         "monitors image fsType pool keyring user",
	"ISCSIVolumeSource":                 "targetPortal iqn iscsiInterface fsType portals initiatorName",
	"ISCSIPersistentVolumeSource":       "targetPortal iqn iscsiInterface fsType portals initiatorName",
	"ScaleIOVolumeSource":               "fsType=xfs storageMode=ThinProvisioned",
	"ScaleIOPersistentVolumeSource":     "fsType=xfs storageMode=ThinProvisioned",
	"CSIVolumeSource":                   "driver",
	"CSIPersistentVolumeSource":         "driver volumeHandle",
	"ImageVolumeSource":                 "reference",
	"PodCertificateProjection":          "signerName keyType",
	"ClusterTrustBundleProjection":      "signerName",
	"PersistentVolumeSpec":              "claimRef storageClassName nodeAffinity volumeAttributesClassName",
	"PersistentVolumeClaimSpec":         "selector storageClassName volumeName volumeAttributesClassName",
	"PersistentVolumeClaimStatus":       "currentVolumeAttributesClassName modifyVolumeStatus",
	"TypedLocalObjectReference":         "apiGroup kind",
	"TypedObjectReference":              "apiGroup kind namespace",
	"StorageClass":                      "provisioner allowedTopologies",
	"CSINodeDriver":                     "name topologyKeys",
	"CSIStorageCapacity":                "storageClassName",
	"VolumeAttachmentSpec":              "attacher nodeName",
	"VolumeAttachmentSource":            "persistentVolumeName",

	"DeviceClassSpec":           "selectors extendedResourceName",
	"DeviceClaim":               "requests constraints",
	"DeviceClaimConfiguration":  "requests",
	"OpaqueDeviceConfiguration": "driver",
	"ResourceSliceSpec":         "*",
	"ResourceClaimStatus":       "allocation reservedFor -devices",

	"NodeSpec":           "taints -podCIDR -podCIDRs -configSource",
	"NodeStatus":         "images declaredFeatures -addresses -volumesInUse -volumesAttached -config",
	"NodeSystemInfo":     "kernelVersion osImage containerRuntimeVersion kubeletVersion kubeProxyVersion operatingSystem architecture",
	"NodeRuntimeHandler": "name",
	"RuntimeClass":       "handler",
	"Scheduling":         "*",
	"ResourceQuotaSpec":  "scopeSelector",
	"ServiceSpec":        "selector -clusterIP -clusterIPs -externalIPs -loadBalancerIP -loadBalancerSourceRanges",
	"ServicePort":        "name appProtocol",
	"ServiceStatus":      "-loadBalancer",
	"PodGroupSpec":       "*",

	"ReplicationControllerSpec": "selector",
	"StatefulSetSpec":           "serviceName",
	"StatefulSetStatus":         "currentRevision updateRevision",
	"JobSpec":                   "podFailurePolicy successPolicy managedBy",
	"JobStatus":                 "completedIndexes failedIndexes",
	"CronJobSpec":               "schedule timeZone",
	"CronJobStatus":             "active",
}

// rules are the table's lines, as words.
var rules = func() map[string][]string {
	all := map[string][]string{}
	for name, line := range table {
		all[name] = strings.Fields(line)
	}
	return all
}()

// decides are the keys of annotations by which Kubernetes decides. One that ends in a slash is followed by the name of a container, and
// its value is what the container's securityContext says.
var decides = []string{
	"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "pv.kubernetes.io/provisioned-by", "pv.kubernetes.io/migrated-to",
	"volume.kubernetes.io/selected-node", "volume.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-resizer",
	"volume.beta.kubernetes.io/storage-class", "volume.beta.kubernetes.io/storage-provisioner", "storage.alpha.kubernetes.io/migrated-plugins",
	"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class", "volumes.kubernetes.io/controller-managed-attach-detach",
	"deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history", "deployment.kubernetes.io/desired-replicas",
	"deployment.kubernetes.io/max-replicas", "deprecated.daemonset.template.generation", "controller.kubernetes.io/pod-deletion-cost",
	"batch.kubernetes.io/job-completion-index", "batch.kubernetes.io/job-index-failure-count", "batch.kubernetes.io/job-index-ignored-failure-count",
	"batch.kubernetes.io/cronjob-scheduled-timestamp", "resource.kubernetes.io/pod-claim-name", "resource.kubernetes.io/extended-resource-claim",
	"kubectl.kubernetes.io/default-container", "node.alpha.kubernetes.io/ttl", v1.MirrorPodAnnotationKey, v1.SeccompPodAnnotationKey,
	v1.SeccompContainerAnnotationKeyPrefix, v1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix,
}

// Decides reports whether Kubernetes decides by the annotations of a key.
func Decides(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return slices.Contains(decides, key) || slices.Contains(decides, domain+"/")
}
