package snapshot

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// nameClaims has pods name the claims that were made for them from a template, if
// the snapshot has these: such a claim is its pod's by the UID that the pod had.
// Otherwise the pods would get others, without a volume or a device.
func nameClaims(in *Snapshot) {
	volumes, devices := map[types.NamespacedName]bool{}, map[types.NamespacedName]bool{}
	for i := range in.PVCs {
		volumes[types.NamespacedName{Namespace: in.PVCs[i].Namespace, Name: in.PVCs[i].Name}] = true
	}
	for i := range in.ResourceClaims {
		devices[types.NamespacedName{Namespace: in.ResourceClaims[i].Namespace, Name: in.ResourceClaims[i].Name}] = true
	}
	for i := range in.Pods {
		nameVolumes(&in.Pods[i], volumes)
		nameDevices(&in.Pods[i], devices)
	}
}

func nameVolumes(pod *v1.Pod, there map[types.NamespacedName]bool) {
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		name := pod.Name + "-" + volume.Name
		if volume.Ephemeral != nil && there[types.NamespacedName{Namespace: pod.Namespace, Name: name}] {
			volume.VolumeSource = v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
		}
	}
}

func nameDevices(pod *v1.Pod, there map[types.NamespacedName]bool) {
	made := map[string]*string{}
	for _, status := range pod.Status.ResourceClaimStatuses {
		made[status.Name] = status.ResourceClaimName
	}
	for i := range pod.Spec.ResourceClaims {
		claim := &pod.Spec.ResourceClaims[i]
		name := made[claim.Name]
		if claim.ResourceClaimTemplateName != nil && name != nil && there[types.NamespacedName{Namespace: pod.Namespace, Name: *name}] {
			*claim = v1.PodResourceClaim{Name: claim.Name, ResourceClaimName: name}
		}
	}
}
