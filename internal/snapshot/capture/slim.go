package capture

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// What is kept of the objects of a kind, by the paths of fields: what scheduling
// depends on. What goes is not listed: a field that Kubernetes gets tomorrow does not
// slip through.
var (
	keptOfAll = in("metadata", "name namespace uid labels annotations creationTimestamp deletionTimestamp ownerReferences finalizers")
	kept      = map[string]string{
		"Namespace":          "status.phase", // in one that is being deleted, pods are rejected
		"PriorityClass":      "value globalDefault preemptionPolicy",
		"RuntimeClass":       "handler overhead scheduling",
		"StorageClass":       "provisioner reclaimPolicy volumeBindingMode allowedTopologies allowVolumeExpansion",
		"CSIDriver":          in("spec", "attachRequired storageCapacity volumeLifecycleModes fsGroupPolicy podInfoOnMount"),
		"CSINode":            "spec",
		"CSIStorageCapacity": "nodeTopology storageClassName capacity maximumVolumeSize",
		"PersistentVolumeClaim": in("spec", keptOfClaim) +
			in("status", "phase accessModes capacity"),
		// Of where a volume is that by which limits and restrictions are counted.
		"PersistentVolume": in("spec", `capacity accessModes claimRef persistentVolumeReclaimPolicy storageClassName volumeMode
			nodeAffinity volumeAttributesClassName gcePersistentDisk awsElasticBlockStore azureDisk csi.driver csi.volumeHandle`) + in("status", "phase"),
		"VolumeAttachment":      in("spec", "attacher nodeName source.persistentVolumeName"),
		"DeviceClass":           "spec",
		"ResourceSlice":         "spec",
		"ResourceClaimTemplate": "spec.spec",
		"ResourceClaim":         "spec status.allocation",
		"Service":               "spec.selector",
		"PodDisruptionBudget":   "spec",
		"Deployment":            "spec",
		"ReplicaSet":            "spec",
		"ReplicationController": "spec",
		"StatefulSet":           "spec",
		"DaemonSet":             "spec",
		"Node":                  in("spec", "taints unschedulable") + in("status", "capacity allocatable declaredFeatures images"),
		"LimitRange":            "spec",
		"ResourceQuota":         "spec",
		"PodGroup":              in("spec", "schedulingPolicy disruptionMode priorityClassName"),
		"Pod": in("spec", keptOfPod) + in("status", "resourceClaimStatuses extendedResourceClaimStatus resources allocatedResources phase startTime") +
			in("status.conditions", "type status reason") + in("status.containerStatuses", keptOfStatus) + in("status.initContainerStatuses", keptOfStatus),
	}
	keptOfTemplate = parse(in("metadata", "name labels annotations") + in("spec", keptOfPod))
	keptOfPod      = `nodeName schedulerName schedulingGates nodeSelector affinity tolerations topologySpreadConstraints
		priorityClassName priority preemptionPolicy runtimeClassName overhead resources resourceClaims hostNetwork restartPolicy schedulingGroup ` +
		in("containers", keptOfContainer) + in("initContainers", keptOfContainer) + in("volumes", keptOfVolume)
	keptOfStatus    = "name resources allocatedResources" // which a resize changes one after the other
	keptOfContainer = "name image resources restartPolicy restartPolicyRules " + in("ports", "hostPort containerPort protocol hostIP")
	// Those volumes that a node may be unable to mount.
	keptOfVolume = "name persistentVolumeClaim ephemeral.volumeClaimTemplate.spec gcePersistentDisk awsElasticBlockStore azureDisk " +
		in("rbd", "monitors image fsType pool keyring readOnly") +
		in("iscsi", "targetPortal iqn lun iscsiInterface fsType readOnly portals initiatorName")
	keptOfClaim         = "accessModes selector resources volumeName storageClassName volumeAttributesClassName volumeMode"
	keptOfClaimTemplate = parse(in("metadata", "name labels") + in("spec", keptOfClaim))
)

func in(prefix, paths string) (all string) {
	for path := range strings.FieldsSeq(paths) {
		all += prefix + "." + path + " "
	}
	return all
}

// fields are the kept fields, by name, with the ones in them; if there are none,
// all of it is kept.
type fields map[string]fields

func parse(paths string) fields {
	all := fields{}
	for path := range strings.FieldsSeq(paths) {
		at := all
		for name := range strings.SplitSeq(path, ".") {
			if at[name] == nil {
				at[name] = fields{}
			}
			at = at[name]
		}
	}
	return all
}

// prune empties the fields of a value that are not kept.
func prune(v reflect.Value, kept fields) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			prune(v.Elem(), kept)
		}
	case reflect.Slice:
		for i := range v.Len() {
			prune(v.Index(i), kept)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			below, ok := kept[name]
			switch {
			case name == "": // its fields are the value's own
				prune(v.Field(i), kept)
			case !ok:
				v.Field(i).SetZero()
			case len(below) > 0:
				prune(v.Field(i), below)
			}
		}
	}
}

// slim leaves of each object what scheduling depends on.
func slim(s *snapshot.Snapshot, annotations []string) {
	for _, kind := range snapshot.Kinds {
		fields := parse(keptOfAll + kept[kind.Kind])
		for o := range kind.All(s) {
			prune(reflect.ValueOf(o), fields)
			slimAnnotations(o.GetAnnotations(), annotations)
			o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { // a pod's own keep it; that of its Job goes, since no Job is here
				return f != resourcev1.Finalizer && (kind.Kind != "Pod" || f == batchv1.JobTrackingFinalizer)
			}))
			template := snapshot.PodTemplate(o)
			if template != nil {
				SlimTemplate(template, annotations)
			}
			slimValues(o)
		}
	}
	s.Services = slices.DeleteFunc(s.Services, func(o v1.Service) bool { return len(o.Spec.Selector) == 0 })
}

// SlimTemplate leaves of a template what a snapshot has of it.
func SlimTemplate(template *v1.PodTemplateSpec, annotations []string) {
	prune(reflect.ValueOf(template), keptOfTemplate)
	slimAnnotations(template.Annotations, annotations)
	slimPod(&template.Spec)
}

// books are the annotations by which Kubernetes itself decides.
var books = []string{
	"pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "storageclass.kubernetes.io/",
	"storage.alpha.kubernetes.io/migrated-plugins", "deployment.kubernetes.io/", "resource.kubernetes.io/pod-claim-name",
	v1.MirrorPodAnnotationKey,
}

func slimAnnotations(all map[string]string, keys []string) {
	maps.DeleteFunc(all, func(key, _ string) bool {
		return !slices.Contains(keys, key) && !slices.ContainsFunc(books, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	})
}

// slimValues drops from the fields that are kept what is private, and
// fills in what has to be there.
func slimValues(o snapshot.Object) {
	switch o := o.(type) {
	case *v1.Namespace: // the contexts that pod security asks of pods are not in a snapshot
		for label := range o.Labels {
			if strings.HasPrefix(label, "pod-security.kubernetes.io/") {
				delete(o.Labels, label)
			}
		}
	case *v1.Pod:
		slimPod(&o.Spec)
	case *storagev1.CSINode:
		for i := range o.Spec.Drivers {
			o.Spec.Drivers[i].NodeID = o.Name // instead of the provider's name of the machine
		}
	case *v1.PersistentVolume:
		if o.Spec.PersistentVolumeSource == (v1.PersistentVolumeSource{}) {
			o.Spec.HostPath = &v1.HostPathVolumeSource{Path: "/simulated"}
		}
	case *resourcev1.DeviceClass:
		o.Spec.Config = nil // the drivers' own parameters, as below
	case *resourcev1.ResourceClaimTemplate:
		o.Spec.Spec.Devices.Config = nil
	case *resourcev1.ResourceClaim:
		o.Spec.Devices.Config = nil
		if o.Status.Allocation != nil {
			o.Status.Allocation.Devices.Config = nil
		}
	case *v1.Service:
		o.Spec.ClusterIP = v1.ClusterIPNone
	case *appsv1.StatefulSet:
		prune(reflect.ValueOf(o.Spec.VolumeClaimTemplates), keptOfClaimTemplate)
	}
}

// slimPod keeps of containers the ports of the node and the rules that a node must
// know of to be given the pod.
func slimPod(spec *v1.PodSpec) {
	for _, containers := range [][]v1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			c := &containers[i]
			c.Ports = slices.DeleteFunc(c.Ports, func(p v1.ContainerPort) bool { return p.HostPort == 0 })
			c.RestartPolicyRules = slices.DeleteFunc(c.RestartPolicyRules, func(r v1.ContainerRestartRule) bool {
				return r.Action != v1.ContainerRestartRuleActionRestartAllContainers
			})
		}
	}
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v v1.Volume) bool { return v.VolumeSource == (v1.VolumeSource{}) })
}

// owners are pods, and the kinds that are needed only where they own something: old
// replica sets are many. Each comes after what it may own.
var owners = []string{"Pod", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Deployment"}

// withoutIdleOwners drops what owns nothing in the snapshot, and references to owners that are not in it, unless one is
// the controller: a Job or a custom resource recreates a pod, though the snapshot does not have it.
func withoutIdleOwners(s *snapshot.Snapshot) {
	owning, kept := map[types.UID]bool{}, map[types.UID]bool{}
	for _, name := range owners {
		kind := snapshot.KindNamed(name)
		if name != "Pod" {
			kind.Drop(s, func(o snapshot.Object) bool { return !owning[o.GetUID()] })
		}
		for o := range kind.All(s) {
			kept[o.GetUID()] = name != "Pod"
			for _, owner := range o.GetOwnerReferences() {
				owning[owner.UID] = true
			}
		}
	}
	for _, name := range owners {
		for o := range snapshot.KindNamed(name).All(s) {
			o.SetOwnerReferences(slices.DeleteFunc(o.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
				return !kept[owner.UID] && !ptr.Deref(owner.Controller, false)
			}))
		}
	}
}

// onlyTheirPods keeps controllers from making up for the pods of other nodes: sets
// of replicas are as large as the pods that are here, and deployments and stateful
// sets, which would not accept that, are skipped.
func onlyTheirPods(s *snapshot.Snapshot) {
	pods := map[types.UID]int32{}
	for i := range s.Pods {
		for _, owner := range s.Pods[i].OwnerReferences {
			pods[owner.UID]++
		}
	}
	for i := range s.ReplicaSets {
		s.ReplicaSets[i].Spec.Replicas = ptr.To(pods[s.ReplicaSets[i].UID])
		s.ReplicaSets[i].OwnerReferences = nil
	}
	for i := range s.ReplicationControllers {
		s.ReplicationControllers[i].Spec.Replicas = ptr.To(pods[s.ReplicationControllers[i].UID])
	}
	if len(s.Deployments)+len(s.StatefulSets) > 0 {
		s.Deployments, s.StatefulSets = nil, nil
		s.Source.Notes = append(s.Source.Notes, snapshot.Notice{
			About: "deployments, statefulsets", Reason: "skipped, since they would recreate the pods that are on other nodes",
		})
	}
}
