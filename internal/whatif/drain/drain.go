// Package drain reports where the pods of drained nodes go, and which nodes can be drained: it
// tries it in a copy of a cluster in memory, with the real scheduler. It writes to no real cluster.
package drain

import (
	"cmp"
	"context"
	"errors"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/timeline"
)

// Options say which nodes are to go, or which pods, in a copy of a cluster.
type Options struct {
	engine.Options
	Nodes []string // for Shrink, nodes that may go
	// Pods, if it is not nil, chooses pods that are evicted in place of Nodes. No node is
	// cordoned then, so that a pod may come back to its own.
	Pods     labels.Selector
	Force    bool            // pods without a controller are evicted, too, as if one recreated them
	Runs     int             // how often it is tried, with another seed each time. Less than 1 is 1
	Progress engine.Progress // may be nil
	Prices   *Prices         // of the nodes that Shrink finds; may be nil
	Zone     string          // for Fail, of all Nodes; may be empty
	Surge    int             // for Upgrade, how many nodes come first
	Node     *v1.Node        // for Upgrade, what new nodes are like; nil: like the ones that they replace

	fail bool // nodes fail, which no budget prevents
}

// Result is the result of a drain, or of a shrink.
type Result struct {
	Go     []string      `json:"go"`               // the nodes that go
	Zone   string        `json:"zone,omitempty"`   // that fails
	Delete []string      `json:"delete,omitempty"` // of these: pods stay terminating there until the node is deleted
	Moves  []engine.Move `json:"moves"`            // first pods without another node, then pods that were kept
	Stay   []Stay        `json:"stay,omitempty"`   // nodes that cannot go, or whose drain would not end
	Trials int           `json:"trials,omitempty"`
	Basis  report.Basis  `json:"basis"`
	// Timeline is what happens when, of an upgrade or a failure.
	Timeline *timeline.Timeline `json:"timeline,omitempty"`
	// Saves is what the nodes that go cost an hour, but for Unpriced ones.
	Saves    float64  `json:"savesPerHour,omitempty"`
	Unpriced []string `json:"withoutPrice,omitempty"`
	Currency string   `json:"-"` // of Saves
	Priced   bool     `json:"-"` // there are prices
	Shrink   bool     `json:"-"` // nodes that can go were searched for
	Upgrade  bool     `json:"-"` // nodes were to be replaced
	Fail     bool     `json:"-"` // nodes were to fail
	Tried    int      `json:"-"` // nodes that were to go; 0: pods were chosen
}

// Lost is how many pods have no other node.
func (r *Result) Lost() (lost int) {
	for _, move := range r.Moves {
		if move.To == "" {
			lost++
		}
	}
	return lost
}

// Drain cordons nodes, and evicts their pods as kubectl drain --ignore-daemonsets does, or
// else evicts the pods that are chosen. What a budget keeps is tried again, once others are
// ready on other nodes. Of several runs, it returns that in which most pods are left without a node.
func Drain(ctx context.Context, o Options) (*Result, error) {
	return o.run(ctx, "pods without a node", (*Result).Lost, func(d *draining) error {
		t, err := d.try(ctx, o.Nodes)
		if err == nil {
			d.found.Go = o.Nodes
			d.found.Moves = t.moves
			d.found.Stay = t.terminating
		}
		return err
	})
}

// run tries it with each seed, and returns the result that counts most.
func (o *Options) run(ctx context.Context, counts string, count func(*Result) int, do func(*draining) error) (*Result, error) {
	try := func(e engine.Options, progress engine.Progress) (*Result, error) { return o.once(ctx, e, progress, do) }
	more := func(one, than *Result) bool { return count(one) > count(than) }
	most, runs, err := engine.Worst(o.Options, o.Runs, o.Progress, try, count, more)
	if err != nil {
		return nil, err
	}
	most.Tried = len(o.Nodes)
	most.Zone = o.Zone
	most.Basis.Runs = runs
	most.Basis.Counts = counts
	return most, nil
}

// chosen reports whether a pod is on one of some nodes, or else whether it has the labels of Pods.
func (o *Options) chosen(pod *v1.Pod, nodes []string) bool {
	if o.Pods != nil {
		return pod.Spec.NodeName != "" && o.Pods.Matches(labels.Set(pod.Labels))
	}
	return slices.Contains(nodes, pod.Spec.NodeName)
}

// Bare are the pods to be evicted that nothing recreates.
func (o *Options) Bare() (names []string) {
	for i := range o.Cluster.Pods {
		pod := &o.Cluster.Pods[i]
		ended := podutil.IsPodTerminal(pod) || pod.DeletionTimestamp != nil
		if o.chosen(pod, o.Nodes) && !ended && !engine.Recreatable(pod) && pod.Annotations[v1.MirrorPodAnnotationKey] == "" {
			names = append(names, pod.Namespace+"/"+pod.Name)
		}
	}
	return names
}

// draining is an engine that drains nodes.
type draining struct {
	engine   *engine.Engine
	options  *Options
	file     *engine.Pods // as the file has them
	found    Result
	progress engine.Progress
	removes  bool             // the nodes are removed once they are empty
	kept     sets.Set[string] // nodes with pods that only a removal ends
	held     bool             // controllers do nothing
}

// once does something in a copy, when that is at rest.
func (o *Options) once(ctx context.Context, e engine.Options, progress engine.Progress, do func(*draining) error) (*Result, error) {
	e.Workloads = engine.Workloads
	copied, err := engine.New(ctx, e)
	if err != nil {
		return nil, err
	}
	d := &draining{engine: copied, options: o, progress: progress, file: copied.Pods(), kept: sets.Set[string]{}}
	defer d.engine.Close()
	d.progress("schedules", 0, 0)
	if err := d.engine.RunBeforeQuestion(ctx); err != nil {
		return nil, err
	}
	if err := do(d); err != nil {
		return nil, err
	}
	evicted := slices.DeleteFunc(slices.Clone(d.file.Placed), func(pod *v1.Pod) bool { return !d.evicts(pod, o.Nodes) })
	d.engine.LacksFor(evicted)
	switch {
	case !o.fail:
		const effect = "one may keep pods from being evicted"
		d.engine.Lacks(effect, "PodDisruptionBudget")
		d.engine.LacksForNamespaces(effect, evicted, "PodDisruptionBudget")
		d.engine.LacksForBudgets(evicted)
	case slices.ContainsFunc(d.found.Moves, func(move engine.Move) bool { return move.PreemptedBy != "" }):
		d.engine.LacksForPreemption()
	}
	d.engine.LacksForNodes(evicted)
	d.found.Basis = d.engine.Describe()
	return &d.found, nil
}

// trial is the result of draining some nodes.
type trial struct {
	kept        map[string]string // why pods were not evicted, or stay terminating
	moves       []engine.Move
	terminating []Stay // evicted pods that are not gone, at most one of a node: kubectl drain waits for them
}

// try drains nodes as kubectl drain does: all are cordoned, and then one after the other is emptied.
func (d *draining) try(ctx context.Context, nodes []string) (*trial, error) {
	before := d.engine.Pods()
	t := &trial{kept: map[string]string{}}
	if err := d.cordon(nodes, true); err != nil {
		return nil, err
	}
	if err := d.engine.Run(ctx); err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(slices.Clone(before.Placed), func(pod *v1.Pod) bool { return !d.evicts(pod, nodes) })
	ended := slices.DeleteFunc(cluster.All[*v1.Pod](d.engine.Cluster), func(pod *v1.Pod) bool { // or terminating: they need no other node, and kubectl waits for them
		return !d.evicts(pod, nodes) || pod.DeletionTimestamp == nil && !podutil.IsPodTerminal(pod)
	})
	for _, node := range nodes {
		on := slices.DeleteFunc(slices.Clone(all), func(pod *v1.Pod) bool { return pod.Spec.NodeName != node })
		if err := d.empty(ctx, t, on); err != nil {
			return nil, err
		}
	}
	if err := d.empty(ctx, t, slices.Concat(all, ended)); err != nil {
		return nil, err
	}
	for _, pod := range slices.Concat(all, ended) {
		reason := d.engine.Cluster.Terminating(pod)
		if reason != "" && !slices.Contains(nodesOf(t.terminating), pod.Spec.NodeName) {
			t.terminating = append(t.terminating, Stay{pod.Spec.NodeName, pod.Namespace + "/" + pod.Name, reason})
		}
	}
	t.describe(d, before, nodes)
	return t, nil
}

// empty evicts pods until no more may go. One that comes back is not evicted again.
func (d *draining) empty(ctx context.Context, t *trial, pods []*v1.Pod) error {
	for {
		left := slices.DeleteFunc(slices.Clone(pods), func(pod *v1.Pod) bool { return !d.engine.Has(pod) })
		out, err := d.evict(ctx, t, left)
		if err != nil || out == 0 {
			return err
		}
		if err := d.goOn(ctx, left); err != nil {
			return err
		}
	}
}

// goOn has controllers and the scheduler go on, of which some pods may be gone by now. Where controllers are held, it creates pods in their place, in the
// order in which controllers do and under the same names: by these, the scheduler chooses among equal nodes.
func (d *draining) goOn(ctx context.Context, pods []*v1.Pod) error {
	if !d.held {
		return d.engine.Run(ctx)
	}
	gone := slices.DeleteFunc(slices.Clone(pods), func(pod *v1.Pod) bool {
		return d.engine.Has(pod) || !engine.Recreatable(pod) || !hasSuccessor(pod)
	})
	first := func(pod *v1.Pod) int {
		return slices.IndexFunc(gone, func(other *v1.Pod) bool { return metav1.GetControllerOf(other).UID == metav1.GetControllerOf(pod).UID })
	}
	rank := func(pod *v1.Pod) int { return slices.Index(inTurn, metav1.GetControllerOf(pod).Kind) }
	for _, pod := range slices.SortedStableFunc(slices.Values(gone), func(a, b *v1.Pod) int { return cmp.Or(rank(a)-rank(b), first(a)-first(b)) }) {
		if _, err := d.recreate(ctx, pod); err != nil {
			return err
		}
	}
	if err := d.engine.Scheduler.ScheduleAll(ctx); err != nil {
		return err
	}
	return d.engine.SyncBudgets(ctx)
}

// hasSuccessor says whether another pod comes in the place of one when that is gone. It is there already if the pod was terminating, but for a StatefulSet's.
func hasSuccessor(pod *v1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return !podutil.IsPodTerminal(pod) && (pod.DeletionTimestamp == nil || owner != nil && owner.Kind == "StatefulSet")
}

// inTurn are the kinds of owners that create pods, in the order in which [engine.Workloads] has their controllers.
var inTurn = []string{"ReplicaSet", "ReplicationController", "StatefulSet"}

// evict evicts the pods that may leave their nodes, and counts them. One that nothing recreates is recreated here.
func (d *draining) evict(ctx context.Context, t *trial, pods []*v1.Pod) (out int, err error) {
	for _, pod := range pods {
		name := pod.Namespace + "/" + pod.Name
		if d.removes && d.removeTerminating(pod) { // perhaps its Job has taken its finalizer away since
			out++
			continue
		}
		if !engine.Recreatable(pod) && !d.options.Force && !podutil.IsPodTerminal(pod) {
			t.kept[name] = "no controller recreates it"
			continue
		}
		t.kept[name] = d.engine.Cluster.Terminating(pod)
		if t.kept[name] != "" {
			continue
		}
		if t.kept[name], err = refusal(d.engine.Cluster.Evict(pod.Namespace, pod.Name)); err != nil {
			return 0, err
		}
		if t.kept[name] != "" {
			continue
		}
		out++
		if d.removes {
			d.removeTerminating(pod)
		}
		if !engine.Recreatable(pod) && hasSuccessor(pod) && !d.engine.Has(pod) {
			if _, err := d.recreate(ctx, pod); err != nil {
				return 0, err
			}
		}
	}
	return out, nil
}

// recreate creates a pod in the place of one that is gone, or returns nil if the API server rejects it.
func (d *draining) recreate(ctx context.Context, pod *v1.Pod) (*v1.Pod, error) {
	next := d.engine.Cluster.Recreated(pod)
	owner := metav1.GetControllerOf(pod)
	if owner != nil && owner.Kind != "StatefulSet" {
		next.Name, next.GenerateName = "", owner.Name+"-"
	}
	created, err := d.engine.Cluster.Create(ctx, next)
	if err != nil {
		if cluster.IsRejection(err) {
			err = nil
		}
		return nil, err
	}
	return created.(*v1.Pod), nil
}

// removeTerminating removes a pod that only the kubelet of a dead node keeps, as Kubernetes does when the node is removed.
func (d *draining) removeTerminating(pod *v1.Pod) bool {
	now := cluster.Get[*v1.Pod](d.engine.Cluster, pod.Namespace, pod.Name)
	gone := d.engine.Cluster.Terminating(pod) != "" && len(now.Finalizers) == 0
	if gone {
		d.kept.Insert(pod.Spec.NodeName)
		d.engine.Cluster.Remove(pod)
	}
	return gone
}

// refusal is why an eviction was refused, or empty.
func refusal(err error) (string, error) {
	if cause, ok := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause); ok {
		return cause.Message, nil
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return err.Error(), nil
	}
	return "", err
}

// evicts reports whether a pod is to leave its node.
func (d *draining) evicts(pod *v1.Pod, nodes []string) bool {
	if !d.options.chosen(pod, nodes) {
		return false
	}
	kind := d.engine.Cluster.WorkloadOf(pod).Kind
	return kind != "DaemonSet" && kind != cluster.OfStatic
}

const (
	comesBack  = "it tolerates that its node is unschedulable, and comes back"
	comesToOne = "it tolerates that nodes are unschedulable, and comes to one that goes"
)

// toleratesCordon says whether a pod may be scheduled to nodes that are unschedulable.
func toleratesCordon(pod *v1.Pod) bool {
	tolerates, _ := helper.GetMatchingTolerations(klog.New(nil), []v1.Taint{{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}}, pod.Spec.Tolerations)
	return tolerates
}

// affected are the pods that were to leave nodes, and, unless nodes are searched for that can go, those of other nodes that were
// deleted: they were preempted, or their Job has failed.
func (d *draining) affected(before *engine.Pods, nodes []string) []*v1.Pod {
	return slices.DeleteFunc(slices.Clone(before.Placed), func(was *v1.Pod) bool {
		now := cluster.Get[*v1.Pod](d.engine.Cluster, was.Namespace, was.Name)
		deleted := now == nil || now.UID != was.UID || now.DeletionTimestamp != nil && was.DeletionTimestamp == nil
		return (!deleted || d.engine.Scheduler.NoPreemption) && !d.evicts(was, nodes)
	})
}

// describe lists the pods that are affected.
func (t *trial) describe(d *draining, before *engine.Pods, nodes []string) {
	were := d.affected(before, nodes)
	moves := d.engine.Moves(before, were)
	for i, was := range were {
		move := moves[i]
		stays := move.To == move.From
		terminating := was.DeletionTimestamp != nil // already, and without a successor
		if (stays || terminating) && !d.evicts(was, nodes) {
			continue
		}
		why := t.kept[move.Pod]
		if why == "" && d.options.Pods == nil {
			why = comesBack
		}
		if stays && why != "" {
			move.To = ""
			move.Feasible, move.Sampled = 0, false
			move.Reason, move.Against = why, ""
		}
		if move.Reason == "" {
			move.Reason = d.engine.Cluster.Terminating(was)
		}
		t.moves = append(t.moves, move)
	}
	slices.SortFunc(t.moves, byRank(t.kept))
}

// byRank is the order of moves: first pods without another node, then pods that were kept.
func byRank(kept map[string]string) func(a, b engine.Move) int {
	rank := func(m engine.Move) int {
		if m.To != "" {
			return 2
		}
		return min(1, len(kept[m.Pod]))
	}
	return func(a, b engine.Move) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Pod, b.Pod)) }
}
