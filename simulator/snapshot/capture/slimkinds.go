package capture

import (
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

func slimStorage(o snapshot.Object) {
	switch o := o.(type) {
	case *storagev1.StorageClass:
		*o = storagev1.StorageClass{
			ObjectMeta: o.ObjectMeta, Provisioner: o.Provisioner, ReclaimPolicy: o.ReclaimPolicy,
			VolumeBindingMode: o.VolumeBindingMode, AllowedTopologies: o.AllowedTopologies, AllowVolumeExpansion: o.AllowVolumeExpansion,
		}
	case *storagev1.CSIDriver:
		o.Spec = storagev1.CSIDriverSpec{
			AttachRequired: o.Spec.AttachRequired, StorageCapacity: o.Spec.StorageCapacity,
			VolumeLifecycleModes: o.Spec.VolumeLifecycleModes, FSGroupPolicy: o.Spec.FSGroupPolicy, PodInfoOnMount: o.Spec.PodInfoOnMount,
		}
	case *storagev1.CSINode:
		for i := range o.Spec.Drivers {
			o.Spec.Drivers[i].NodeID = o.Name // the provider's name of the machine is nobody's business
		}
	case *v1.PersistentVolumeClaim:
		o.Spec = slimClaim(o.Spec)
		o.Status = v1.PersistentVolumeClaimStatus{Phase: o.Status.Phase, AccessModes: o.Status.AccessModes, Capacity: o.Status.Capacity}
	case *v1.PersistentVolume:
		slimVolume(o)
	}
}

func slimClaim(spec v1.PersistentVolumeClaimSpec) v1.PersistentVolumeClaimSpec {
	return v1.PersistentVolumeClaimSpec{
		AccessModes: spec.AccessModes, Selector: spec.Selector, Resources: spec.Resources, VolumeName: spec.VolumeName,
		StorageClassName: spec.StorageClassName, VolumeMode: spec.VolumeMode,
	}
}

// slimVolume keeps of where a volume is what limits and restrictions are counted
// by.
func slimVolume(v *v1.PersistentVolume) {
	spec := &v.Spec
	source := v1.PersistentVolumeSource{
		GCEPersistentDisk: spec.GCEPersistentDisk, AWSElasticBlockStore: spec.AWSElasticBlockStore, AzureDisk: spec.AzureDisk,
	}
	if csi := spec.CSI; csi != nil {
		source.CSI = &v1.CSIPersistentVolumeSource{Driver: csi.Driver, VolumeHandle: csi.VolumeHandle}
	}
	if source == (v1.PersistentVolumeSource{}) {
		source.HostPath = &v1.HostPathVolumeSource{Path: "/simulated"}
	}
	v.Spec = v1.PersistentVolumeSpec{
		Capacity: spec.Capacity, PersistentVolumeSource: source, AccessModes: spec.AccessModes, ClaimRef: spec.ClaimRef,
		PersistentVolumeReclaimPolicy: spec.PersistentVolumeReclaimPolicy, StorageClassName: spec.StorageClassName,
		VolumeMode: spec.VolumeMode, NodeAffinity: spec.NodeAffinity,
	}
	v.Status = v1.PersistentVolumeStatus{Phase: v.Status.Phase}
}

// slimDevices leaves the drivers' own parameters out.
func slimDevices(o snapshot.Object) {
	switch o := o.(type) {
	case *resourcev1.DeviceClass:
		o.Spec.Config = nil
	case *resourcev1.ResourceClaimTemplate:
		o.Spec.ObjectMeta, o.Spec.Spec.Devices.Config = metav1.ObjectMeta{}, nil
	case *resourcev1.ResourceClaim:
		o.Spec.Devices.Config = nil
		if o.Status = (resourcev1.ResourceClaimStatus{Allocation: o.Status.Allocation}); o.Status.Allocation != nil {
			o.Status.Allocation.Devices.Config = nil
		}
	}
}

// slimOwner keeps of owners which pods are theirs.
func slimOwner(o snapshot.Object) {
	switch o := o.(type) {
	case *v1.Service:
		o.Spec = v1.ServiceSpec{Selector: o.Spec.Selector, ClusterIP: v1.ClusterIPNone}
		o.Status = v1.ServiceStatus{}
	case *policyv1.PodDisruptionBudget:
		o.Status = policyv1.PodDisruptionBudgetStatus{}
	case *appsv1.Deployment:
		o.Status = appsv1.DeploymentStatus{}
	case *appsv1.ReplicaSet:
		o.Status = appsv1.ReplicaSetStatus{}
	case *v1.ReplicationController:
		o.Status = v1.ReplicationControllerStatus{}
	case *appsv1.DaemonSet:
		o.Status = appsv1.DaemonSetStatus{}
	case *appsv1.StatefulSet:
		o.Status = appsv1.StatefulSetStatus{}
		for i := range o.Spec.VolumeClaimTemplates {
			claim := &o.Spec.VolumeClaimTemplates[i]
			*claim = v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Labels: claim.Labels}, Spec: slimClaim(claim.Spec)}
		}
	}
}
