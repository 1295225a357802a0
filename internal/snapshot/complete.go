package snapshot

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"
)

// Time is when a snapshot was taken: what it says, or else the newest time of its objects. Without any it is always the same.
func (s *Snapshot) Time() time.Time {
	if s.Source != nil && !s.Source.Taken.IsZero() {
		return s.Source.Taken.UTC()
	}
	newest := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	see := func(at *metav1.Time) {
		if at != nil && at.After(newest) {
			newest = at.UTC()
		}
	}
	for _, kind := range Kinds {
		for o := range kind.All(s) {
			created := o.GetCreationTimestamp()
			see(&created)
			switch o := o.(type) {
			case *v1.Node:
				for i := range o.Status.Conditions {
					see(&o.Status.Conditions[i].LastHeartbeatTime)
					see(&o.Status.Conditions[i].LastTransitionTime)
				}
			case *v1.Pod:
				see(o.Status.StartTime)
				for i := range o.Status.Conditions {
					see(&o.Status.Conditions[i].LastTransitionTime)
				}
			case *appsv1.Deployment:
				for i := range o.Status.Conditions {
					see(&o.Status.Conditions[i].LastUpdateTime)
				}
			case *batchv1.Job:
				see(o.Status.StartTime)
			}
		}
	}
	return newest
}

// AddMissing adds what the objects of a snapshot refer to and what it does not have.
func (s *Snapshot) AddMissing() {
	s.dropSystems()
	s.add(s.missing())
}

func (s *Snapshot) add(missing *Snapshot) {
	s.Namespaces = append(s.Namespaces, missing.Namespaces...)
	s.PriorityClasses = append(s.PriorityClasses, missing.PriorityClasses...)
	s.RuntimeClasses = append(s.RuntimeClasses, missing.RuntimeClasses...)
}

// missing is what the objects of a snapshot refer to, what it does not have, and
// what an API server insists on: a file of nodes and pods alone has none of it.
func (s *Snapshot) missing() *Snapshot {
	out, has := &Snapshot{}, map[string]bool{}
	lacks := func(kind, name string) bool {
		key := kind + " " + name
		lacks := name != "" && !has[key]
		has[key] = true
		return lacks
	}
	for _, kind := range Kinds {
		for o := range kind.All(s) {
			if !kind.Namespaced() {
				has[kind.Kind+" "+o.GetName()] = true
			}
			name := o.GetNamespace()
			if !slices.Contains(SystemNamespaces, name) && lacks("Namespace", name) {
				out.Namespaces = append(out.Namespaces, v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
		}
	}
	for i := range s.Pods {
		spec := &s.Pods[i].Spec
		name := spec.PriorityClassName
		if spec.Priority != nil && !isSystemPriority(name) && lacks("PriorityClass", name) {
			out.PriorityClasses = append(out.PriorityClasses, schedulingv1.PriorityClass{
				ObjectMeta: metav1.ObjectMeta{Name: name}, Value: *spec.Priority, PreemptionPolicy: spec.PreemptionPolicy,
			})
		}
		if spec.RuntimeClassName != nil && lacks("RuntimeClass", *spec.RuntimeClassName) {
			class := nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: *spec.RuntimeClassName}, Handler: "simulated"}
			if len(spec.Overhead) > 0 {
				class.Overhead = &nodev1.Overhead{PodFixed: spec.Overhead}
			}
			out.RuntimeClasses = append(out.RuntimeClasses, class)
		}
	}
	return out
}

// noticesOfMissing has one for each kind.
func (s *Snapshot) noticesOfMissing() []Notice {
	missing, made := s.missing(), grouped{}
	for _, kind := range Kinds {
		reason := "not in the file: made as its pods say"
		if kind.Kind == "Namespace" {
			reason = "not in the file: made without labels"
		}
		for o := range kind.All(missing) {
			made.add(kind.Title, reason, o.GetName())
		}
	}
	return made.notices("")
}

// LacksRoom reports whether a node does not say how many pods it takes, as in a manifest of a node: kubelets write that. No pod fits then.
func LacksRoom(node *v1.Node) bool {
	room := node.Status.Allocatable
	if room == nil {
		room = node.Status.Capacity
	}
	_, says := room[v1.ResourcePods]
	return !says
}

// ClaimOf is the name of the claim of a pod's volume, or empty.
func ClaimOf(pod *v1.Pod, volume *v1.Volume) string {
	switch {
	case volume.PersistentVolumeClaim != nil:
		return volume.PersistentVolumeClaim.ClaimName
	case volume.Ephemeral != nil:
		return ephemeral.VolumeClaimName(pod, volume)
	}
	return ""
}

// ClaimsOf are the names of the claims of a pod's volumes.
func ClaimsOf(pod *v1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		name := ClaimOf(pod, &pod.Spec.Volumes[i])
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// NameClaims has pods name the claims that were made for them from a template, if
// the snapshot has these: such a claim is its pod's by the UID that the pod had.
// Otherwise the pods would get others, without a volume or a device.
func (s *Snapshot) NameClaims() {
	volumes, devices := map[string]bool{}, map[string]bool{}
	for i := range s.PVCs {
		volumes[qualified(&s.PVCs[i])] = true
	}
	for i := range s.ResourceClaims {
		devices[qualified(&s.ResourceClaims[i])] = true
	}
	for i := range s.Pods {
		pod := &s.Pods[i]
		for v := range pod.Spec.Volumes {
			volume := &pod.Spec.Volumes[v]
			name := ClaimOf(pod, volume)
			if volume.Ephemeral != nil && volumes[pod.Namespace+"/"+name] {
				volume.VolumeSource = v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
			}
		}
		for _, made := range pod.Status.ResourceClaimStatuses {
			at := slices.IndexFunc(pod.Spec.ResourceClaims, func(c v1.PodResourceClaim) bool { return c.Name == made.Name && c.ResourceClaimTemplateName != nil })
			if at >= 0 && made.ResourceClaimName != nil && devices[pod.Namespace+"/"+*made.ResourceClaimName] {
				pod.Spec.ResourceClaims[at] = v1.PodResourceClaim{Name: made.Name, ResourceClaimName: made.ResourceClaimName}
			}
		}
	}
}
