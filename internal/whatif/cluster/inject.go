package cluster

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// injection is what the webhooks of a cluster have added to the pods of a workload, such as the containers of a service mesh.
type injection struct {
	containers, initContainers []v1.Container
	volumes                    []v1.Volume
}

// inferInjections compares pods with the templates that they are made from.
func (c *Cluster) inferInjections() {
	for _, pod := range All[*v1.Pod](c) {
		ref := metav1.GetControllerOf(pod)
		if ref == nil {
			continue
		}
		owner := c.owner(pod.Namespace, ref)
		if owner == nil || isInferred(owner) || snapshot.PodTemplate(owner) == nil {
			continue
		}
		template := snapshot.PodTemplate(owner).Spec
		added := injection{
			containers:     lacking(template.Containers, pod.Spec.Containers, containerName),
			initContainers: lacking(template.InitContainers, pod.Spec.InitContainers, containerName),
		}
		if len(added.containers)+len(added.initContainers) > 0 {
			added.volumes = lacking(template.Volumes, pod.Spec.Volumes, volumeName)
			c.injected[c.workloadName(pod)] = added
		}
	}
}

func containerName(c v1.Container) string { return c.Name }

func volumeName(v v1.Volume) string { return v.Name }

// lacking returns what others lack of all, by their names.
func lacking[T any](others, all []T, name func(T) string) (added []T) {
	for _, one := range all {
		if !slices.ContainsFunc(others, func(other T) bool { return name(other) == name(one) }) {
			added = append(added, one)
		}
	}
	return added
}

// workloadName is the workload of a pod, in the form of a namespaced name.
func (c *Cluster) workloadName(pod *v1.Pod) types.NamespacedName {
	of := c.WorkloadOf(pod)
	return types.NamespacedName{Namespace: pod.Namespace, Name: of.Kind + " " + of.Name}
}

// inject adds to a new pod what webhooks have added to others of its workload.
func (c *Cluster) inject(pod *v1.Pod) {
	added, ok := c.injected[c.workloadName(pod)]
	if !ok || metav1.GetControllerOf(pod) == nil {
		return
	}
	spec := &pod.Spec
	spec.Containers = append(spec.Containers, lacking(spec.Containers, added.containers, containerName)...)
	spec.InitContainers = append(lacking(spec.InitContainers, added.initContainers, containerName), spec.InitContainers...)
	spec.Volumes = append(spec.Volumes, lacking(spec.Volumes, added.volumes, volumeName)...)
}
