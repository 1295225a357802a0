package capture

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

func slimStorage(s *snapshot.Snapshot) {
	for i := range s.StorageClasses {
		c := &s.StorageClasses[i]
		*c = storagev1.StorageClass{
			ObjectMeta: c.ObjectMeta, Provisioner: c.Provisioner, ReclaimPolicy: c.ReclaimPolicy,
			VolumeBindingMode: c.VolumeBindingMode, AllowedTopologies: c.AllowedTopologies, AllowVolumeExpansion: c.AllowVolumeExpansion,
		}
	}
	for i := range s.CSIDrivers {
		spec := &s.CSIDrivers[i].Spec
		*spec = storagev1.CSIDriverSpec{
			AttachRequired: spec.AttachRequired, StorageCapacity: spec.StorageCapacity,
			VolumeLifecycleModes: spec.VolumeLifecycleModes, FSGroupPolicy: spec.FSGroupPolicy, PodInfoOnMount: spec.PodInfoOnMount,
		}
	}
	for i := range s.CSINodes {
		for d := range s.CSINodes[i].Spec.Drivers {
			s.CSINodes[i].Spec.Drivers[d].NodeID = s.CSINodes[i].Name // the provider's name of the machine is nobody's business
		}
	}
	for i := range s.PVCs {
		c := &s.PVCs[i]
		c.Spec = slimClaim(c.Spec)
		c.Status = v1.PersistentVolumeClaimStatus{Phase: c.Status.Phase, AccessModes: c.Status.AccessModes, Capacity: c.Status.Capacity}
	}
	for i := range s.PVs {
		slimVolume(&s.PVs[i])
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
func slimDevices(s *snapshot.Snapshot) {
	for i := range s.DeviceClasses {
		s.DeviceClasses[i].Spec.Config = nil
	}
	for i := range s.ResourceClaimTemplates {
		t := &s.ResourceClaimTemplates[i].Spec
		t.ObjectMeta, t.Spec.Devices.Config = metav1.ObjectMeta{}, nil
	}
	for i := range s.ResourceClaims {
		c := &s.ResourceClaims[i]
		c.Spec.Devices.Config = nil
		if c.Status = (resourcev1.ResourceClaimStatus{Allocation: c.Status.Allocation}); c.Status.Allocation != nil {
			c.Status.Allocation.Devices.Config = nil
		}
	}
}

// slimOwners keeps of owners which pods are theirs, and what these are made of.
func slimOwners(s *snapshot.Snapshot, annotations []string) {
	for i := range s.Services {
		s.Services[i].Spec = v1.ServiceSpec{Selector: s.Services[i].Spec.Selector, ClusterIP: v1.ClusterIPNone}
		s.Services[i].Status = v1.ServiceStatus{}
	}
	s.Services = slices.DeleteFunc(s.Services, func(o v1.Service) bool { return len(o.Spec.Selector) == 0 })
	for i := range s.PodDisruptionBudgets {
		s.PodDisruptionBudgets[i].Status = policyv1.PodDisruptionBudgetStatus{}
	}
	for i := range s.Deployments {
		slimTemplate(&s.Deployments[i].Spec.Template, annotations)
		s.Deployments[i].Status = appsv1.DeploymentStatus{}
	}
	for i := range s.ReplicaSets {
		slimTemplate(&s.ReplicaSets[i].Spec.Template, annotations)
		s.ReplicaSets[i].Status = appsv1.ReplicaSetStatus{}
	}
	for i := range s.ReplicationControllers {
		if s.ReplicationControllers[i].Spec.Template != nil {
			slimTemplate(s.ReplicationControllers[i].Spec.Template, annotations)
		}
		s.ReplicationControllers[i].Status = v1.ReplicationControllerStatus{}
	}
	for i := range s.DaemonSets {
		slimTemplate(&s.DaemonSets[i].Spec.Template, annotations)
		s.DaemonSets[i].Status = appsv1.DaemonSetStatus{}
	}
	for i := range s.StatefulSets {
		slimStatefulSet(&s.StatefulSets[i], annotations)
	}
}

func slimStatefulSet(set *appsv1.StatefulSet, annotations []string) {
	slimTemplate(&set.Spec.Template, annotations)
	set.Status = appsv1.StatefulSetStatus{}
	for i := range set.Spec.VolumeClaimTemplates {
		claim := &set.Spec.VolumeClaimTemplates[i]
		*claim = v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Labels: claim.Labels}, Spec: slimClaim(claim.Spec)}
	}
}

func slimTemplate(template *v1.PodTemplateSpec, annotations []string) {
	template.ObjectMeta = metav1.ObjectMeta{
		Name: template.Name, Labels: template.Labels, Annotations: keptAnnotations(template.Annotations, annotations),
	}
	template.Spec = slimPod(&template.Spec)
}

// nodeOf is the node that a slice of devices belongs to, if to one.
func nodeOf(o metav1.Object) string {
	if node := o.(*resourcev1.ResourceSlice).Spec.NodeName; node != nil {
		return *node
	}
	return ""
}
