package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// Recreate makes a pod as its controller would once it is gone, and deletes it before if
// it is there. That of a StatefulSet that makes its pods in order comes when [Engine.Run]
// has those before it ready, if it does. That an API server refuses a pod is its outcome.
func (e *Engine) Recreate(ctx context.Context, pod *v1.Pod) error {
	e.Delete(pod)
	e.Forget(cluster.NameOf(pod))
	err := e.CreateInOrder(ctx, e.Recreated(pod))
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
		e.outcome(cluster.NameOf(pod)).Message = "it cannot be recreated: " + err.Error()
	} else if err != nil {
		return fmt.Errorf("recreate pod %s: %w", cluster.NameOf(pod), err)
	}
	return nil
}

// Move is the result for a pod that lost its node, or was to leave it.
type Move struct {
	Pod         string `json:"pod"`                // with its namespace
	Workload    string `json:"workload,omitempty"` // what makes it, such as "Deployment web"; empty if nothing does
	From        string `json:"from"`
	To          string `json:"to,omitempty"`          // empty if there is no other node for it
	Feasible    int    `json:"feasible,omitempty"`    // as in Outcome
	Reason      string `json:"reason,omitempty"`      // why not
	PreemptedBy string `json:"preemptedBy,omitempty"` // the pod that preempted it
}

// Move is the result for a pod that had a node, and whose place by was given, if it is not empty.
func (e *Engine) Move(was *v1.Pod, by types.NamespacedName) Move {
	o := e.Outcome(cluster.NameOf(was))
	m := Move{Pod: cluster.NameOf(was).String(), From: was.Spec.NodeName, To: o.Node, Feasible: o.Feasible}
	of := e.WorkloadOf(was)
	if of.Kind != "" {
		m.Workload = of.Kind + " " + was.Namespace + "/" + of.Name
	}
	if by.Name != "" {
		m.PreemptedBy = by.String()
	}
	if m.To == "" {
		m.Reason, m.Feasible = o.Reason(), 0
	}
	return m
}

// Place says where a pod has come to, and how many other nodes would have done.
func Place(node string, feasible int) string {
	switch {
	case node == "" || feasible == 1:
		return node
	case feasible == 0:
		return node + ", by preemption"
	case feasible == 2:
		return node + " or 1 other"
	}
	return fmt.Sprintf("%s or %d others", node, feasible-1)
}

// Reason is why a pod has no node, in a line.
func (o Outcome) Reason() string {
	if o.State == Preempted {
		return "it was preempted, and nothing recreates it"
	}
	return strings.Join(strings.Fields(cmp.Or(o.Message, o.State)), " ")
}

// Recreatable reports whether a controller recreates a pod.
func Recreatable(pod *v1.Pod) bool { return metav1.GetControllerOf(pod) != nil }

// Residents are the pods that have a node, by name. Take them before a change, to see later
// which have moved.
func (e *Engine) Residents() map[types.NamespacedName]*v1.Pod {
	all := map[types.NamespacedName]*v1.Pod{}
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if pod.Spec.NodeName != "" {
			all[cluster.NameOf(pod)] = pod
		}
	}
	return all
}

// Restore recreates the pods that were preempted, until no more are, and says by
// whom each was first.
func (e *Engine) Restore(ctx context.Context, residents map[types.NamespacedName]*v1.Pod) (by map[types.NamespacedName]types.NamespacedName, err error) {
	by = map[types.NamespacedName]types.NamespacedName{}
	for {
		var gone []*v1.Pod
		for name, pod := range residents {
			o := e.Outcome(name)
			if o.State == Preempted {
				_, before := by[name]
				if !before {
					by[name] = o.PreemptedBy
				}
				if Recreatable(pod) {
					gone = append(gone, pod)
				}
			}
		}
		if len(gone) == 0 {
			return by, nil
		}
		slices.SortFunc(gone, cluster.ByName)
		for _, pod := range gone {
			if err := e.Recreate(ctx, pod); err != nil {
				return nil, err
			}
		}
		if err := e.Run(ctx); err != nil {
			return nil, err
		}
	}
}
