package side

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// Which pods of the file are scheduled.
const (
	Pending = "pending" // those without a node
	All     = "all"     // all, on empty nodes
)

// Modes are what [Options].Pods may be.
var Modes = []string{Pending, All}

// CheckMode fails if a mode is none of [Modes].
func CheckMode(mode string) error {
	if slices.Contains(Modes, mode) {
		return nil
	}
	return fmt.Errorf("pods: %q is none of %s", mode, strings.Join(Modes, ", "))
}

type plan struct {
	cluster *snapshot.Snapshot // what is there before anything is scheduled
	queue   []v1.Pod           // what is scheduled first
	steps   []Step

	nodes sets.Set[string]              // those of the file
	pods  map[types.NamespacedName]*Pod // those of the file that have not ended
	above map[[3]string]Owner           // the owners of owners, by namespace, kind and name
}

// newPlan sorts what is in the file, and uses that up. A pod that no kube-scheduler has
// placed or will place (one that has ended, or that a file on its node has made) stays
// as it is, and so does one of a scheduler that neither side has.
func newPlan(o *Options) *plan {
	p := &plan{
		cluster: o.Cluster, steps: o.Scenario.Steps, nodes: sets.New[string](), pods: map[types.NamespacedName]*Pod{}, above: map[[3]string]Owner{},
	}
	p.cluster.Complete()
	p.findOwners()
	for i := range p.cluster.Nodes {
		p.nodes.Insert(p.cluster.Nodes[i].Name)
	}
	all := p.cluster.Pods
	p.cluster.Pods, p.cluster.SchedulerConfig = nil, nil
	// The pods of jobs would end at once. What else makes pods stays, as PodTopologySpread
	// and budgets go by it, but makes none.
	p.cluster.Jobs, p.cluster.CronJobs = nil, nil
	ours := sets.New(o.Schedulers...)
	for _, pod := range all {
		if Ended(&pod) {
			continue
		}
		planned := p.newPod(&pod)
		planned.Today = pod.Spec.NodeName
		p.pods[nameOf(&pod)] = planned
		if Queued(&pod, o.Pods, ours) {
			pod.Spec.NodeName = ""
			p.queue = append(p.queue, pod)
		} else {
			planned.Stays = true
			p.cluster.Pods = append(p.cluster.Pods, pod)
		}
	}
	slices.SortStableFunc(p.queue, func(a, b v1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return p
}

// Ended is true of a pod that takes no room.
func Ended(pod *v1.Pod) bool { return podutil.IsPodTerminal(pod) || pod.DeletionTimestamp != nil }

// Queued is true of a pod that is to be scheduled in a mode, if the schedulers are ours.
func Queued(pod *v1.Pod, mode string, ours sets.Set[string]) bool {
	return pod.Spec.NodeName == "" || mode == All && ours.Has(cmp.Or(pod.Spec.SchedulerName, v1.DefaultSchedulerName)) && !static(pod)
}

// OfStatic is the kind of what owns static pods.
const OfStatic = "Node"

// findOwners keeps who owns the ReplicaSets and Jobs of the file.
func (p *plan) findOwners() {
	for _, kind := range []string{"ReplicaSet", "Job"} {
		for object := range snapshot.KindNamed(kind).All(p.cluster) {
			if ref := metav1.GetControllerOf(object); ref != nil {
				p.above[[3]string{object.GetNamespace(), kind, object.GetName()}] = Owner{ref.Kind, ref.Name}
			}
		}
	}
}

func (p *plan) newNode(node *v1.Node) Node {
	return Node{
		Name: node.Name, Labels: node.Labels, Allocatable: node.Status.Allocatable, Taints: node.Spec.Taints,
		Unschedulable: node.Spec.Unschedulable, Today: p.nodes.Has(node.Name),
	}
}

func (p *plan) newPod(pod *v1.Pod) *Pod {
	return &Pod{
		Namespace: pod.Namespace, Name: pod.Name, Owner: p.owner(pod), Labels: pod.Labels,
		Requests: resource.PodRequests(pod, resource.PodResourcesOptions{}), Priority: ptr.Deref(pod.Spec.Priority, 0),
		Ended: podutil.IsPodTerminal(pod), Outcome: Outcome{State: Gone},
	}
}

// owner goes by the name of a ReplicaSet if that is not in the file.
func (p *plan) owner(pod *v1.Pod) Owner {
	if static(pod) {
		return Owner{OfStatic, pod.Spec.NodeName}
	}
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return Owner{}
	}
	if above, ok := p.above[[3]string{pod.Namespace, ref.Kind, ref.Name}]; ok {
		return above
	}
	hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if deployment, ok := strings.CutSuffix(ref.Name, "-"+hash); ok && hash != "" && ref.Kind == "ReplicaSet" {
		return Owner{"Deployment", deployment}
	}
	return Owner{ref.Kind, ref.Name}
}

// static is true of the mirror of a pod that a kubelet runs of its own accord.
func static(pod *v1.Pod) bool { return pod.Annotations[v1.MirrorPodAnnotationKey] != "" }
