package cluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	daemonutil "k8s.io/kubernetes/pkg/controller/daemon/util"
	"k8s.io/kubernetes/pkg/controller/history"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// inferInjections compares the newest pod of each workload with the template of its own revision: what it has more, webhooks and
// admission plugins of the cluster have added, such as the containers of a service mesh.
func (c *Cluster) inferInjections() {
	for _, pod := range slices.SortedFunc(slices.Values(All[*v1.Pod](c)), func(a, b *v1.Pod) int { return ByAge(b, a) }) {
		name, template, spec := c.workloadName(pod), c.madeFrom(pod), &pod.Spec
		_, known := c.injected[name]
		if template == nil || known {
			continue
		}
		added := v1.PodSpec{
			Containers:     lacking(template.Containers, spec.Containers, containerName),
			InitContainers: lacking(template.InitContainers, spec.InitContainers, containerName),
			NodeSelector:   maps.Clone(spec.NodeSelector),
			Tolerations:    slices.DeleteFunc(lacking(template.Tolerations, spec.Tolerations, tolerationName), isAdded),
		}
		if len(added.Containers)+len(added.InitContainers) > 0 {
			added.Volumes = lacking(template.Volumes, spec.Volumes, volumeName)
		}
		maps.DeleteFunc(added.NodeSelector, func(key, _ string) bool {
			_, has := template.NodeSelector[key]
			return has || key == v1.LabelHostname // of a node that was chosen for this pod alone
		})
		if template.Affinity == nil && metav1.GetControllerOf(pod).Kind != "DaemonSet" { // whose controller gives each pod its node
			added.Affinity = spec.Affinity
		}
		if cmp.Or(template.SchedulerName, v1.DefaultSchedulerName) != spec.SchedulerName {
			added.SchedulerName = spec.SchedulerName
		}
		c.injected[name] = added
		what := map[string]bool{
			"affinity": added.Affinity != nil, "containers": len(added.Containers)+len(added.InitContainers) > 0, "nodeSelector": len(added.NodeSelector) > 0,
			"schedulerName": added.SchedulerName != "", "tolerations": len(added.Tolerations) > 0,
		}
		maps.DeleteFunc(what, func(_ string, is bool) bool { return !is })
		if len(what) > 0 {
			c.inferred(fmt.Sprintf("what admission adds to pods of %s (%s)", c.WorkloadName(pod), strings.Join(slices.Sorted(maps.Keys(what)), ", ")))
		}
	}
}

// madeFrom is what the template of a pod's revision has, with what the controller of a DaemonSet adds; nil if it is not known.
func (c *Cluster) madeFrom(pod *v1.Pod) *v1.PodSpec {
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return nil
	}
	if ref.Kind != "StatefulSet" && ref.Kind != "DaemonSet" {
		owner := c.owner(pod.Namespace, ref)
		if owner == nil || isInferred(owner) || snapshot.PodTemplate(owner) == nil {
			return nil
		}
		return &snapshot.PodTemplate(owner).Spec
	}
	name := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
	if ref.Kind == "DaemonSet" {
		name = history.ControllerRevisionName(ref.Name, name)
	}
	revision := Get[*appsv1.ControllerRevision](c, pod.Namespace, name)
	var set appsv1.DaemonSet // or a StatefulSet
	if revision == nil || isInferred(revision) || json.Unmarshal(revision.Data.Raw, &set) != nil {
		return nil
	}
	if ref.Kind == "DaemonSet" {
		daemonutil.AddOrUpdateDaemonPodTolerations(&set.Spec.Template.Spec)
	}
	return &set.Spec.Template.Spec
}

func containerName(c v1.Container) string { return c.Name }

func volumeName(v v1.Volume) string { return v.Name }

func tolerationName(t v1.Toleration) string { return t.String() }

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
	added, spec := c.injected[c.workloadName(pod)], &pod.Spec
	spec.Containers = append(spec.Containers, lacking(spec.Containers, added.Containers, containerName)...)
	spec.InitContainers = append(lacking(spec.InitContainers, added.InitContainers, containerName), spec.InitContainers...)
	spec.Volumes = append(spec.Volumes, lacking(spec.Volumes, added.Volumes, volumeName)...)
	spec.NodeSelector = labels.Merge(added.NodeSelector, spec.NodeSelector)
	spec.Tolerations = slices.Concat(spec.Tolerations, added.Tolerations)
	if spec.Affinity == nil {
		spec.Affinity = added.Affinity.DeepCopy()
	}
	if spec.SchedulerName == v1.DefaultSchedulerName {
		spec.SchedulerName = cmp.Or(added.SchedulerName, spec.SchedulerName)
	}
}
