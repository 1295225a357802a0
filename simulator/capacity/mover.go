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
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/simulator/side"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// resident is a pod.
type resident struct {
	*v1.Pod
	name     string    // with its namespace
	maker    string    // the kind of what makes it anew, or empty
	now      *side.Pod // what came of it
	first    string    // its node before anything was tried
	home, at string    // its nodes before what is tried now, and after
	kept     string    // why it was not evicted
	pushedBy string
	undone   bool // it is put back before anything else is tried
}

// leaves is true of a pod that does not belong to its node.
func (p *resident) leaves() bool { return p.maker != "DaemonSet" && p.maker != "Node" }

// mover takes pods off nodes, and makes anew those that have to go.
type mover struct {
	*side.Sandbox
	Removed
	force  bool
	nodes  []side.Node // as they were first
	pods   []*resident
	named  map[string]*resident
	closed sets.Set[string] // nodes that take no more pods
	undone []string         // nodes that are put back before anything else is tried
	had    devices          // before what is tried now
}

// newMover knows the pods of a cluster that have not ended.
func newMover(cluster *snapshot.Snapshot) *mover {
	m := &mover{named: map[string]*resident{}, closed: sets.New[string]()}
	for i := range cluster.Pods {
		if pod := &cluster.Pods[i]; !podutil.IsPodTerminal(pod) && pod.DeletionTimestamp == nil {
			m.addPod(pod)
		}
	}
	return m
}

func (m *mover) addPod(pod *v1.Pod) *resident {
	p := &resident{Pod: pod, name: pod.Namespace + "/" + pod.Name}
	if owner := metav1.GetControllerOf(pod); owner != nil { // in the copy, it has none that the file lacks
		p.maker = owner.Kind
	} else if pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
		p.maker = "Node"
	}
	m.pods, m.named[p.name] = append(m.pods, p), p
	return p
}

// enter takes note of how the copy is before anything is tried, but for a first change.
func (m *mover) enter(ctx context.Context, box *side.Sandbox, change func(context.Context) error) (err error) {
	m.Sandbox = box
	m.nodes, err = m.try(ctx, change)
	for _, p := range m.pods {
		p.first, p.home = p.at, p.at
	}
	return err
}

// try changes something, and takes note of what came of it. A pod that the copy has
// refused is kept where it is.
func (m *mover) try(ctx context.Context, change func(context.Context) error) ([]side.Node, error) {
	result, err := m.Try(ctx, change)
	if err != nil {
		return nil, err
	}
	for _, pod := range result.Pods {
		p := m.named[pod.Key().String()]
		if p == nil {
			continue
		}
		switch p.now, p.at = pod, pod.Node; pod.State {
		case side.Refused:
			p.at, p.kept = pod.Today, pod.Message
		case side.PushedOut:
			p.pushedBy = pod.PushedOutBy
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
func (p *resident) returns() bool { return p.now.State == side.PushedOut && p.maker != "" }

// evict has nodes take no more pods, and makes anew, without a node, those that may leave
// them. It counts these, and those that budgets keep.
func (m *mover) evict(ctx context.Context, nodes []string) (out, kept int, err error) {
	changed := slices.ContainsFunc(m.pods, func(p *resident) bool { return p.undone })
	if err := cmp.Or(m.putBack(ctx), m.cordon(ctx, nodes, true), m.CatchUp(ctx, changed)); err != nil {
		return 0, 0, err
	}
	var anew []*resident
	for _, p := range m.pods {
		switch {
		case p.returns():
			anew = append(anew, p)
		case !slices.Contains(nodes, p.at) || !p.leaves() || p.now.State == side.Refused:
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
	return len(anew), kept, cmp.Or(m.awaitBudgets(ctx), m.make(ctx, anew, nowhere))
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
	return wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, side.DefaultPatience, true, func(ctx context.Context) (bool, error) {
		budgets, err := m.Client().PolicyV1().PodDisruptionBudgets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return err == nil && !slices.ContainsFunc(budgets.Items, func(b policyv1.PodDisruptionBudget) bool { return len(b.Status.DisruptedPods) > 0 }), err
	})
}

// make makes pods as they were, but for their nodes, one after the other, so that they
// are queued in this order.
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

func nowhere(*resident) string { return "" }

func (m *mover) cordon(ctx context.Context, nodes []string, to bool) error {
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, to)
	for _, node := range nodes {
		if m.closed.Has(node) == to {
			continue
		}
		if _, err := m.Client().CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		if to {
			m.closed.Insert(node)
		} else {
			m.closed.Delete(node)
		}
	}
	return nil
}
