package digest

import (
	"strings"

	v1 "k8s.io/api/core/v1"
)

// table says how text is replaced, by type and field of Kubernetes' API. In the fields that are named it stays, since Kubernetes
// decides by them; a * names all fields. A field with a minus is dropped. In each other field, and in one that Kubernetes gets
// tomorrow, it becomes a digest. What stays in a field stays in all below it, unless their type has a line.
//
// Reasons, numbers, quantities, times and words of the API stay everywhere, and messages are dropped.
var table = map[string]string{
	"ObjectMeta":    "name generateName namespace labels ownerReferences finalizers -managedFields -selfLink",
	"LabelSelector": "*",
	"TypeMeta":      "*",

	"PodSpec": `nodeName schedulerName schedulingGates nodeSelector affinity tolerations topologySpreadConstraints priorityClassName
		runtimeClassName resourceClaims schedulingGroup hostname hostnameOverride subdomain securityContext`,
	"WindowsSecurityContextOptions": "",
	"Container":                     "name image securityContext",
	"EphemeralContainer":            "targetContainerName",
	"EphemeralContainerCommon":      "name image securityContext",
	"ContainerPort":                 "name hostIP",
	"ResourceClaim":                 "name request",
	"ObjectFieldSelector":           "*",
	"ResourceFieldSelector":         "*",
	"FileKeySelector":               "volumeName",
	"VolumeMount":                   "name",
	"VolumeDevice":                  "name",
	"PodStatus": `nominatedNodeName resourceClaimStatuses extendedResourceClaimStatus nodeAllocatableResourceClaimStatuses
		-podIP -podIPs -hostIP -hostIPs`,
	"ContainerStatus": "name image",

	// Of where a volume is, that by which limits and conflicts are counted.
	"Volume":                            "name",
	"VolumeSource":                      "gcePersistentDisk awsElasticBlockStore azureDisk",
	"PersistentVolumeSource":            "gcePersistentDisk awsElasticBlockStore azureDisk",
	"PersistentVolumeClaimVolumeSource": "claimName",
	"RBDVolumeSource":                   "monitors image fsType pool keyring user",
	"RBDPersistentVolumeSource":         "monitors image fsType pool keyring user",
	"ISCSIVolumeSource":                 "targetPortal iqn iscsiInterface fsType portals initiatorName",
	"ISCSIPersistentVolumeSource":       "targetPortal iqn iscsiInterface fsType portals initiatorName",
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

// books are how the keys of annotations begin by which Kubernetes itself decides.
var books = []string{
	"pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "storageclass.kubernetes.io/", "volumes.kubernetes.io/",
	"storage.alpha.kubernetes.io/migrated-plugins", "deployment.kubernetes.io/", "resource.kubernetes.io/pod-claim-name", "batch.kubernetes.io/",
	"controller.kubernetes.io/", "kubectl.kubernetes.io/restartedAt", "kubectl.kubernetes.io/default-container", "container.apparmor.security.beta.kubernetes.io/",
	"seccomp.security.alpha.kubernetes.io/", "node.alpha.kubernetes.io/ttl", "deprecated.daemonset.template.generation", v1.MirrorPodAnnotationKey,
}
