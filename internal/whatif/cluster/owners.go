package cluster

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workload is what a pod belongs to: the Deployment and not its ReplicaSet, the CronJob
// and not its Job. A pod of a file on a node belongs to the Node. Empty: to nothing.
type Workload struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// OfStatic is the kind of what static pods belong to.
const OfStatic = "Node"

// WorkloadOf goes by the name of a ReplicaSet that is not there.
func (c *Cluster) WorkloadOf(pod *v1.Pod) Workload {
	if pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
		return Workload{OfStatic, pod.Spec.NodeName}
	}
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return Workload{}
	}
	owner := c.owner(pod.Namespace, ref)
	if owner != nil {
		above := metav1.GetControllerOf(owner)
		if above != nil {
			return Workload{above.Kind, above.Name}
		}
	}
	hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	deployment, ok := strings.CutSuffix(ref.Name, "-"+hash)
	if ok && hash != "" && ref.Kind == "ReplicaSet" {
		return Workload{"Deployment", deployment}
	}
	return Workload{ref.Kind, ref.Name}
}

// WorkloadName names the workload of a pod, such as "Deployment default/web"; empty if it has none.
func (c *Cluster) WorkloadName(pod *v1.Pod) string {
	of := c.WorkloadOf(pod)
	if of.Kind == "" {
		return ""
	}
	return of.Kind + " " + pod.Namespace + "/" + of.Name
}

var owners = map[string]Object{
	"ReplicaSet": &appsv1.ReplicaSet{}, "StatefulSet": &appsv1.StatefulSet{}, "Job": &batchv1.Job{}, "ReplicationController": &v1.ReplicationController{},
}

// owner is the object that makes pods, or nil.
func (c *Cluster) owner(namespace string, ref *metav1.OwnerReference) Object {
	kind, ok := owners[ref.Kind]
	if !ok {
		return nil
	}
	return c.of(kind).get(namespace, ref.Name)
}

// Recreated is the pod that a controller would make in the place of one, under its name:
// without a node or containers of a debugger, and with what the containers request in the template of its revision, for a pod may
// have been resized. What webhooks have added stays.
func (c *Cluster) Recreated(pod *v1.Pod) *v1.Pod {
	made := asNew(pod)
	template := c.madeFrom(pod)
	if template != nil {
		takeResources(made.Spec.Containers, template.Containers)
		takeResources(made.Spec.InitContainers, template.InitContainers)
	}
	return made
}

// asNew is a pod without what an API server, a scheduler and a kubelet have added to it.
func asNew(pod *v1.Pod) *v1.Pod {
	made := pod.DeepCopy()
	made.UID, made.ResourceVersion, made.Generation, made.CreationTimestamp, made.DeletionTimestamp = "", "", 0, metav1.Time{}, nil
	made.Spec.NodeName, made.Spec.Priority, made.Spec.PreemptionPolicy, made.Spec.Overhead = "", nil, nil, nil
	made.Spec.EphemeralContainers = nil
	made.Status, made.Finalizers = v1.PodStatus{}, nil
	unmerge(&made.Spec)
	return made
}

func takeResources(containers, as []v1.Container) {
	for i := range containers {
		at := slices.IndexFunc(as, func(c v1.Container) bool { return c.Name == containers[i].Name })
		if at >= 0 {
			containers[i].Resources = *as[at].Resources.DeepCopy()
		}
	}
}
