package engine

import (
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// taints are the nodes from which pods have to go: since when they have NoExecute taints, or are gone.
// Kubernetes' own controllers for it, tainteviction and podgc, have queues of private types, which the engine cannot drain.
type taints struct {
	since   map[string]time.Time
	changed bool      // which pods have to go, and when, has to be looked at
	next    time.Time // when the next one goes, or zero
}

// taint takes note of a node whose taints have changed.
func (e *Engine) taint(old, node *v1.Node) {
	if reflect.DeepEqual(old.Spec.Taints, node.Spec.Taints) {
		return
	}
	t := &e.taints
	t.changed = true
	_, before := t.since[node.Name]
	switch {
	case len(noExecute(node)) == 0:
		delete(t.since, node.Name)
	case !before:
		t.since[node.Name] = e.clock.Now()
	}
}

func (t *taints) lose(node *v1.Node) {
	t.since[node.Name] = time.Time{}
	t.changed = true
}

// see takes note of a pod that has come, or has changed.
func (t *taints) see(pod *v1.Pod) {
	_, ok := t.since[pod.Spec.NodeName]
	t.changed = t.changed || ok
}

func noExecute(node *v1.Node) []v1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t v1.Taint) bool { return t.Effect != v1.TaintEffectNoExecute })
}

// evictTainted deletes the pods whose time on a node with NoExecute taints is over, and those of nodes that are gone. No budget
// keeps a pod from that.
func (e *Engine) evictTainted() {
	t := &e.taints
	now := e.clock.Now()
	if !t.changed && (t.next.IsZero() || t.next.After(now)) {
		return
	}
	t.changed, t.next = false, time.Time{}
	var gone []*v1.Pod
	for node := range t.since {
		for _, pod := range e.Cluster.PodsOn(node) {
			at, goes := e.leaves(pod)
			switch {
			case !goes || pod.DeletionTimestamp != nil && cluster.Get[*v1.Node](e.Cluster, "", node) != nil: // a kubelet may still end it
			case !at.After(now):
				gone = append(gone, pod)
			case t.next.IsZero() || at.Before(t.next):
				t.next = at
			}
		}
	}
	slices.SortFunc(gone, cluster.ByName)
	for _, pod := range gone {
		e.Cluster.Delete(pod)
	}
}

// leaves says when a pod has to leave its node, if it has to.
func (e *Engine) leaves(pod *v1.Pod) (at time.Time, goes bool) {
	since, ok := e.taints.since[pod.Spec.NodeName]
	if !ok {
		return at, false
	}
	node := cluster.Get[*v1.Node](e.Cluster, "", pod.Spec.NodeName)
	if node == nil {
		return at, true
	}
	if pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
		return at, false
	}
	all, tolerations := helper.GetMatchingTolerations(quiet, noExecute(node), pod.Spec.Tolerations)
	if !all {
		return at, true
	}
	for _, t := range tolerations {
		if t.TolerationSeconds == nil {
			continue
		}
		began := since
		if pod.Status.StartTime != nil && pod.Status.StartTime.After(since) {
			began = pod.Status.StartTime.Time
		}
		ends := began.Add(time.Duration(max(0, *t.TolerationSeconds)) * time.Second)
		if !goes || ends.Before(at) {
			at, goes = ends, true
		}
	}
	return at, goes
}
