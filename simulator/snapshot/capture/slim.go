package capture

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// slim leaves of each object what scheduling depends on. It lists what is kept,
// not what goes: a field that Kubernetes gets tomorrow does not slip through.
func slim(s *snapshot.Snapshot, annotations []string) {
	images := imagesOf(s.Pods)
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(s) {
			slimMeta(o, annotations)
			if template := snapshot.PodTemplate(o); template != nil {
				template.ObjectMeta = metav1.ObjectMeta{
					Name: template.Name, Labels: template.Labels, Annotations: keptAnnotations(template.Annotations, annotations),
				}
				template.Spec = slimPod(&template.Spec)
			}
			switch o := o.(type) {
			case *v1.Namespace:
				slimNamespace(o)
			case *v1.Node:
				slimNode(o, images)
			case *v1.Pod:
				o.Spec = slimPod(&o.Spec)
				o.Status = v1.PodStatus{ResourceClaimStatuses: o.Status.ResourceClaimStatuses}
			case *schedulingv1.PriorityClass:
				o.Description = ""
			default:
				slimStorage(o)
				slimDevices(o)
				slimOwner(o)
			}
		}
	}
	s.Services = slices.DeleteFunc(s.Services, func(o v1.Service) bool { return len(o.Spec.Selector) == 0 })
}

// books are the annotations by which Kubernetes itself decides.
var books = []string{
	"pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "storageclass.kubernetes.io/",
	"storage.alpha.kubernetes.io/migrated-plugins", "deployment.kubernetes.io/", "resource.kubernetes.io/pod-claim-name",
}

func slimMeta(o snapshot.Object, annotations []string) {
	m := o.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
	*m = metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, Labels: m.Labels, Annotations: keptAnnotations(m.Annotations, annotations),
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, OwnerReferences: m.OwnerReferences,
		Finalizers: slices.DeleteFunc(m.Finalizers, func(f string) bool { return f != resourcev1.Finalizer }),
	}
}

func keptAnnotations(all map[string]string, keys []string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		if slices.Contains(keys, key) || slices.ContainsFunc(books, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// slimNamespace takes the labels of pod security with the rest: the contexts that
// they ask of pods are not in a snapshot.
func slimNamespace(n *v1.Namespace) {
	n.Spec, n.Status = v1.NamespaceSpec{}, v1.NamespaceStatus{}
	for label := range n.Labels {
		if strings.HasPrefix(label, "pod-security.kubernetes.io/") {
			delete(n.Labels, label)
		}
	}
}

func slimNode(n *v1.Node, images map[string]bool) {
	n.Spec = v1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable}
	status := v1.NodeStatus{Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable, DeclaredFeatures: n.Status.DeclaredFeatures}
	for _, image := range n.Status.Images {
		image.Names = slices.DeleteFunc(image.Names, func(name string) bool { return !images[name] })
		if len(image.Names) > 0 {
			status.Images = append(status.Images, image)
		}
	}
	n.Status = status
}

// imagesOf are the images that pods ask for, as nodes name them.
func imagesOf(pods []v1.Pod) map[string]bool {
	images := map[string]bool{}
	for i := range pods {
		for _, containers := range [][]v1.Container{pods[i].Spec.InitContainers, pods[i].Spec.Containers} {
			for c := range containers {
				images[normalImage(containers[c].Image)] = true
			}
		}
	}
	return images
}

// normalImage is how the scheduler looks an image up.
func normalImage(name string) string {
	if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
		name += ":latest"
	}
	return name
}

func slimPod(spec *v1.PodSpec) v1.PodSpec {
	return v1.PodSpec{
		NodeName: spec.NodeName, SchedulerName: spec.SchedulerName, SchedulingGates: spec.SchedulingGates,
		NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations,
		TopologySpreadConstraints: spec.TopologySpreadConstraints,
		PriorityClassName:         spec.PriorityClassName, Priority: spec.Priority, PreemptionPolicy: spec.PreemptionPolicy,
		RuntimeClassName: spec.RuntimeClassName, Overhead: spec.Overhead,
		Resources: spec.Resources, ResourceClaims: spec.ResourceClaims,
		HostNetwork: spec.HostNetwork, RestartPolicy: spec.RestartPolicy,
		InitContainers: slimContainers(spec.InitContainers), Containers: slimContainers(spec.Containers),
		Volumes: slimVolumes(spec.Volumes),
	}
}

func slimContainers(all []v1.Container) []v1.Container {
	slimmed := make([]v1.Container, len(all))
	for i, c := range all {
		slimmed[i] = v1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, RestartPolicy: c.RestartPolicy, RestartPolicyRules: restartingAll(c.RestartPolicyRules)}
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				port.Name = ""
				slimmed[i].Ports = append(slimmed[i].Ports, port)
			}
		}
	}
	return slimmed
}

// restartingAll are the rules that a node must know of to be given the pod.
func restartingAll(rules []v1.ContainerRestartRule) (kept []v1.ContainerRestartRule) {
	for _, rule := range rules {
		if rule.Action == v1.ContainerRestartRuleActionRestartAllContainers {
			kept = append(kept, rule)
		}
	}
	return kept
}

// slimVolumes keeps those that a node may be unable to mount.
func slimVolumes(all []v1.Volume) []v1.Volume {
	var kept []v1.Volume
	for _, volume := range all {
		s := volume.VolumeSource
		slimmed := v1.VolumeSource{
			PersistentVolumeClaim: s.PersistentVolumeClaim, Ephemeral: s.Ephemeral,
			GCEPersistentDisk: s.GCEPersistentDisk, AWSElasticBlockStore: s.AWSElasticBlockStore, AzureDisk: s.AzureDisk,
		}
		switch {
		case s.Ephemeral != nil && s.Ephemeral.VolumeClaimTemplate != nil:
			template := *s.Ephemeral.VolumeClaimTemplate
			template.ObjectMeta = metav1.ObjectMeta{}
			slimmed.Ephemeral = &v1.EphemeralVolumeSource{VolumeClaimTemplate: &template}
		case s.RBD != nil:
			rbd := *s.RBD
			rbd.SecretRef, rbd.RadosUser = nil, ""
			slimmed.RBD = &rbd
		case s.ISCSI != nil:
			iscsi := *s.ISCSI
			iscsi.SecretRef, iscsi.DiscoveryCHAPAuth, iscsi.SessionCHAPAuth = nil, false, false
			slimmed.ISCSI = &iscsi
		}
		if slimmed != (v1.VolumeSource{}) {
			kept = append(kept, v1.Volume{Name: volume.Name, VolumeSource: slimmed})
		}
	}
	return kept
}
