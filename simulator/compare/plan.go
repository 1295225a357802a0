package compare

import (
	"cmp"
	"errors"
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

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// Which pods of the file are scheduled.
const (
	Pending = "pending" // those without a node
	All     = "all"     // all, on empty nodes
)

// Modes are what Options.Pods may be.
var Modes = []string{Pending, All}

func checkMode(mode string) error {
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
func newPlan(o *SideOptions) *plan {
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
		if ended(&pod) {
			continue
		}
		planned := p.newPod(&pod)
		planned.Today = pod.Spec.NodeName
		p.pods[nameOf(&pod)] = planned
		if queued(&pod, o.Pods, ours) {
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

// ended is true of a pod that takes no room.
func ended(pod *v1.Pod) bool { return podutil.IsPodTerminal(pod) || pod.DeletionTimestamp != nil }

// queued is true of a pod that is to be scheduled.
func queued(pod *v1.Pod, mode string, ours sets.Set[string]) bool {
	return pod.Spec.NodeName == "" || mode == All && ours.Has(cmp.Or(pod.Spec.SchedulerName, v1.DefaultSchedulerName)) && !static(pod)
}

// ofStatic is the kind of what owns static pods.
const ofStatic = "Node"

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
		return Owner{ofStatic, pod.Spec.NodeName}
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

// ErrNothing is why there is no result: nothing would be compared, or nothing was.
var ErrNothing = errors.New("nothing to compare")

// nothing says why no pod is there to be scheduled, or returns nil.
func (o *Options) nothing() error {
	if len(o.Scenario.Steps) > 0 {
		return nil
	}
	run, ours := 0, sets.New(o.schedulers()...)
	for i := range o.Cluster.Pods {
		pod := &o.Cluster.Pods[i]
		if !ended(pod) && queued(pod, o.Pods, ours) {
			return nil
		} else if !ended(pod) {
			run++
		}
	}
	switch {
	case run == 0:
		return fmt.Errorf("%w: the cluster has no pods", ErrNothing)
	case o.Pods == All:
		return fmt.Errorf("%w: no pod of the cluster is for a scheduler that A or B has", ErrNothing)
	}
	return fmt.Errorf("%w: every pod of the cluster has a node", ErrNothing)
}

// static is true of the mirror of a pod that a kubelet runs of its own accord.
func static(pod *v1.Pod) bool { return pod.Annotations[v1.MirrorPodAnnotationKey] != "" }

// schedulerNames are those of the profiles of a configuration, as far as it can
// be read: what is wrong with it is said at its start.
func schedulerNames(text []byte) sets.Set[string] {
	names := sets.New[string]()
	if config, err := scheduler.Read(text); err == nil {
		for _, profile := range config.Profiles {
			names.Insert(profile.SchedulerName)
		}
	}
	if len(names) == 0 {
		names.Insert(v1.DefaultSchedulerName)
	}
	return names
}
