package capacity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// Removal says which nodes are to go, in a copy of a cluster.
type Removal struct {
	compare.SideOptions          // but for Then
	Nodes               []string // for Shrink, those that may go
	Force               bool     // pods without a controller are evicted, too, as if one made them anew
}

// Move is what became of a pod that lost its node, or was to leave it.
type Move struct {
	Pod         string `json:"pod"` // with its namespace
	From        string `json:"from"`
	To          string `json:"to,omitempty"`          // empty if there is no other node for it
	Reason      string `json:"reason,omitempty"`      // why not
	PushedOutBy string `json:"pushedOutBy,omitempty"` // the pod that it had to make room for

	of *resident
}

// Removed is what came of it.
type Removed struct {
	Go      []string          `json:"go"`    // the nodes that go
	Moves   []Move            `json:"moves"` // first those without another node
	Stay    []Stay            `json:"stay,omitempty"`
	Trials  int               `json:"trials,omitempty"`
	LeftOut []snapshot.Notice `json:"leftOut,omitempty"`
}

// Lost is how many pods have no other node.
func (r *Removed) Lost() (lost int) {
	for _, move := range r.Moves {
		if move.To == "" {
			lost++
		}
	}
	return lost
}

// Drain cordons nodes, and evicts their pods as kubectl drain --ignore-daemonsets does.
// What a budget keeps is tried again, once others are ready elsewhere.
func Drain(ctx context.Context, o Removal) (*Removed, error) {
	return o.run(ctx, func(ctx context.Context, m *mover) error {
		err := m.clear(ctx, o.Nodes, 2)
		m.Go, m.Moves = o.Nodes, m.moves(o.Nodes)
		return err
	})
}

// Bare are the pods on the nodes that nothing makes anew once they are evicted.
func (o *Removal) Bare() (names []string) {
	for _, p := range o.residents() {
		if slices.Contains(o.Nodes, p.Spec.NodeName) && p.maker == "" {
			names = append(names, p.name)
		}
	}
	return names
}

// resident is a pod.
type resident struct {
	*v1.Pod
	name     string       // with its namespace
	maker    string       // the kind of what makes it anew, or empty
	now      *compare.Pod // what came of it
	first    string       // its node before anything was tried
	home, at string       // its nodes before what is tried now, and after
	kept     string       // why it was not evicted
	pushedBy string
	undone   bool // it is put back before anything else is tried
}

// residents are the pods of the file that have not ended. In the copy, they have no owner that the file lacks.
func (o *Removal) residents() (all []*resident) {
	for i := range o.Cluster.Pods {
		p := &resident{Pod: &o.Cluster.Pods[i]}
		if podutil.IsPodTerminal(p.Pod) || p.DeletionTimestamp != nil {
			continue
		}
		p.name = p.Namespace + "/" + p.Name
		if owner := metav1.GetControllerOf(p); owner != nil {
			p.maker = owner.Kind
		} else if p.Annotations[v1.MirrorPodAnnotationKey] != "" {
			p.maker = "Node"
		}
		all = append(all, p)
	}
	return all
}

// leaves is true of a pod that does not belong to its node.
func (p *resident) leaves() bool { return p.maker != "DaemonSet" && p.maker != "Node" }

// mover takes pods off nodes.
type mover struct {
	*compare.Sandbox
	Removed
	force  bool
	nodes  []compare.Node // as they were first
	pods   []*resident
	undone []string // nodes that are put back before anything else is tried
}

// run does something in the copy, once that is at rest.
func (o *Removal) run(ctx context.Context, do func(context.Context, *mover) error) (*Removed, error) {
	m := &mover{force: o.Force, pods: o.residents()}
	o.Then = func(ctx context.Context, box *compare.Sandbox) (err error) {
		m.Sandbox = box
		if m.nodes, err = m.try(ctx, func(context.Context) error { return nil }); err != nil {
			return err
		}
		for _, p := range m.pods {
			p.first, p.home = p.at, p.at
		}
		return do(ctx, m)
	}
	result, err := compare.RunSide(ctx, o.SideOptions)
	if err != nil {
		return nil, err
	}
	m.LeftOut = result.LeftOut
	return &m.Removed, nil
}

// try changes something, and takes note of what came of it. A pod that the copy has
// refused is kept where it is.
func (m *mover) try(ctx context.Context, change func(context.Context) error) ([]compare.Node, error) {
	result, err := m.Try(ctx, "drain", change)
	if err != nil {
		return nil, err
	}
	pods := map[string]*compare.Pod{}
	for _, pod := range result.Pods {
		pods[nameOf(pod)] = pod
	}
	for _, p := range m.pods {
		p.now = pods[p.name]
		switch p.at = p.now.Node; p.now.State {
		case compare.Refused:
			p.at, p.kept = p.now.Today, p.now.Message
		case compare.PushedOut:
			p.pushedBy = p.now.PushedOutBy
		}
	}
	return result.Nodes, nil
}

// clear takes pods off nodes, until so many times nothing more comes of it.
func (m *mover) clear(ctx context.Context, nodes []string, times int) error {
	for idle := 0; idle < times; idle++ {
		out, kept := 0, 0
		_, err := m.try(ctx, func(ctx context.Context) (err error) {
			out, kept, err = m.evict(ctx, nodes)
			return err
		})
		if err != nil || kept == 0 && !slices.ContainsFunc(m.pods, (*resident).returns) {
			return err
		}
		if out > 0 {
			idle = -1
		}
	}
	return nil
}

// returns is true of a pod that was pushed out, and that is made anew.
func (p *resident) returns() bool { return p.now.State == compare.PushedOut && p.maker != "" }

// evict has nodes take no more pods, and makes anew, without a node, those that may leave
// them. It counts these, and those that budgets keep.
func (m *mover) evict(ctx context.Context, nodes []string) (out, kept int, err error) {
	if err := cmp.Or(m.putBack(ctx), m.cordon(ctx, nodes, true), m.CatchUp(ctx)); err != nil {
		return 0, 0, err
	}
	var anew []*resident
	for _, p := range m.pods {
		switch {
		case p.returns():
			anew = append(anew, p)
		case !slices.Contains(nodes, p.at) || !p.leaves() || p.now.State == compare.Refused:
		case p.maker == "" && !m.force:
			p.kept = "no controller makes it anew"
		default:
			if err := m.evictOne(ctx, p); err != nil {
				return 0, 0, err
			}
			if p.kept != "" {
				kept++
			} else {
				anew = append(anew, p)
			}
		}
	}
	return len(anew), kept, cmp.Or(m.awaitBudgets(ctx), m.make(ctx, anew, func(*resident) string { return "" }))
}

// evictOne says why a pod is kept, if it is.
func (m *mover) evictOne(ctx context.Context, p *resident) error {
	err := m.Client().PolicyV1().Evictions(p.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace}, DeleteOptions: metav1.NewDeleteOptions(0),
	})
	p.kept = ""
	if cause, ok := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause); ok {
		p.kept = cause.Message
	} else if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		p.kept = err.Error()
	} else if err != nil {
		return fmt.Errorf("evict %s: %w", p.name, err)
	}
	return nil
}

// awaitBudgets waits until it is counted that pods have gone: new ones of the same name
// would be taken for them.
func (m *mover) awaitBudgets(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, compare.DefaultPatience, true, func(ctx context.Context) (bool, error) {
		budgets, err := m.Client().PolicyV1().PodDisruptionBudgets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return err == nil && !slices.ContainsFunc(budgets.Items, func(b policyv1.PodDisruptionBudget) bool { return len(b.Status.DisruptedPods) > 0 }), err
	})
}

// make makes pods as they were, but for their nodes.
func (m *mover) make(ctx context.Context, pods []*resident, node func(*resident) string) error {
	for _, p := range pods {
		pod := *p.Pod
		pod.Spec.NodeName = node(p)
		if err := m.Importer().Pod(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

func (m *mover) cordon(ctx context.Context, nodes []string, to bool) error {
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, to)
	for _, node := range nodes {
		if _, err := m.Client().CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// moves are those of the pods that were to leave nodes, and of those that they pushed out.
func (m *mover) moves(nodes []string) []Move {
	var lost, kept, moved []Move
	for _, p := range m.pods {
		if p.home == "" || p.at == p.home && !(slices.Contains(nodes, p.home) && p.leaves()) {
			continue
		}
		move := Move{Pod: p.name, From: p.home, PushedOutBy: p.pushedBy, of: p}
		switch move.Reason = p.kept; p.at {
		case p.home:
			kept = append(kept, move)
		case "":
			move.Reason = p.now.Message
			lost = append(lost, move)
		default:
			move.To, move.Reason = p.at, ""
			moved = append(moved, move)
		}
	}
	return append(append(append([]Move{}, lost...), kept...), moved...)
}
