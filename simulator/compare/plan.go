package compare

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

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

type plan struct {
	cluster *snapshot.Snapshot // what is there before anything is scheduled
	queue   []v1.Pod           // what is scheduled first
	steps   []Step

	running map[types.NamespacedName]*v1.Pod // the pods that have a node in the file
	staying map[types.NamespacedName]string  // the nodes of those that keep it
}

// newPlan sorts what is in the file. A pod that no kube-scheduler has placed or
// will place (one that has ended, or that a file on its node has made) stays as it
// is, and so does one of a scheduler that neither side has.
func newPlan(o *Options) (*plan, error) {
	if !slices.Contains(Modes, o.Pods) {
		return nil, fmt.Errorf("pods: %q is none of %s", o.Pods, strings.Join(Modes, ", "))
	}
	p := &plan{
		steps: o.Scenario.Steps, running: map[types.NamespacedName]*v1.Pod{}, staying: map[types.NamespacedName]string{},
	}
	var err error
	if p.cluster, err = clone(o.Cluster); err != nil {
		return nil, err
	}
	p.cluster.Complete()
	all := p.cluster.Pods
	p.cluster.Pods, p.cluster.SchedulerConfig = nil, nil
	// The pods of jobs would end at once. What else makes pods stays, as PodTopologySpread
	// and budgets go by it, but makes none.
	p.cluster.Jobs, p.cluster.CronJobs = nil, nil
	ours := schedulerNames(o.A.Config).Union(schedulerNames(o.B.Config))
	for i := range all {
		pod := all[i]
		if podutil.IsPodTerminal(&pod) || pod.DeletionTimestamp != nil {
			continue // they take no room
		}
		if pod.Spec.NodeName != "" {
			p.running[nameOf(&pod)] = &all[i]
		}
		switch {
		case pod.Spec.NodeName == "":
			p.queue = append(p.queue, pod)
		case o.Pods == All && ours.Has(cmp.Or(pod.Spec.SchedulerName, v1.DefaultSchedulerName)) && !static(&pod):
			pod.Spec.NodeName = ""
			p.queue = append(p.queue, pod)
		default:
			p.cluster.Pods = append(p.cluster.Pods, pod)
			p.staying[nameOf(&pod)] = pod.Spec.NodeName
		}
	}
	slices.SortStableFunc(p.queue, func(a, b v1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return p, nil
}

// ErrNothing is why there is no result: nothing would be compared, or nothing was.
var ErrNothing = errors.New("nothing to compare")

func (p *plan) nothing(mode string) error {
	switch {
	case len(p.running) == 0:
		return fmt.Errorf("%w: the cluster has no pods", ErrNothing)
	case mode == All:
		return fmt.Errorf("%w: no pod of the cluster is for a scheduler that A or B has", ErrNothing)
	}
	return fmt.Errorf("%w: every pod of the cluster has a node", ErrNothing)
}

// static is true of the mirror of a pod that a kubelet runs of its own accord.
func static(pod *v1.Pod) bool { return pod.Annotations[v1.MirrorPodAnnotationKey] != "" }

// clone copies a snapshot: an import changes what it is given.
func clone(of *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	raw, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	s := &snapshot.Snapshot{}
	return s, json.Unmarshal(raw, s)
}

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
