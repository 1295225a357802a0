package why

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	quota "k8s.io/apiserver/pkg/quota/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// All is why the pods of a cluster, or of a namespace, are pending.
type All struct {
	Verdict   string       `json:"verdict"` // a sentence or two, without an end
	Counts    Counts       `json:"counts"`
	Groups    []*Group     `json:"groups"`              // of pods that stay pending, the largest first
	Preempt   []Preemption `json:"preempt,omitempty"`   // for pods that are pending until there is room
	Scheduled []string     `json:"scheduled,omitempty"` // pods that are not pending in the copy, without those
	Basis     report.Basis `json:"basis"`

	of string // which pods, in a verdict; empty: all
}

// Counts are how many pods are pending in the cluster, and how many stay so in the copy.
type Counts struct {
	Pods    int `json:"pods"`
	Pending int `json:"pending"`
	Causes  int `json:"causes,omitempty"`
	Preempt int `json:"preempt,omitempty"` // how many get room by preemption
}

// Group is the pods that are pending for the same cause.
type Group struct {
	Cause   string   `json:"cause"`
	Verdict string   `json:"verdict"` // about all of them, without an end, with the numbers of nodes of the first
	Pods    []string `json:"pods"`
	// Patterns are the pods' patterns that their reasons name, if these differ. Cause has none.
	Patterns []string `json:"patterns,omitempty"`
	Message  string   `json:"message,omitempty"` // the scheduler's, of the first
	Changes  []Change `json:"changes,omitempty"` // that were tried for the first: first the ones that help, which were tried for some others, too
	// Unlisted are further changes for the first.
	Unlisted Unlisted `json:"unlisted,omitzero"`
	// Unlike is how many of the pods have other requests or constraints than the first.
	Unlike int `json:"unlike,omitempty"`

	reason  string
	differ  bool // the reasons do, in more than their cause
	first   *v1.Pod
	attempt *recorder.Attempt
	outcome engine.Outcome
}

// mostBytes bounds the attempts that are kept: the last one of each pending pod comes last to go.
const mostBytes = 256 << 20

// Pending says why each pending pod of a namespace is, or of all if that is empty. That the cluster has no such namespace, or it no such
// workload, is an error.
func Pending(ctx context.Context, o Options) (*All, error) {
	if err := checkNamespace(o.Cluster, o.Pod.Namespace); err != nil {
		return nil, err
	}
	asked := sets.New[string]()
	for i := range o.Cluster.Pods {
		pod := &o.Cluster.Pods[i]
		if notPending(pod) == "" && (o.Pod.Namespace == "" || pod.Namespace == o.Pod.Namespace) {
			asked.Insert(cluster.NameOf(pod).String())
		}
	}
	asks := true
	o.Recorder = recorder.NewSparse(mostBytes)
	o.Recorder.Only = func(pod *v1.Pod) bool { return asks && asked.Has(cluster.NameOf(pod).String()) }
	e, err := engine.New(ctx, o.Options)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	of := ""
	switch {
	case o.Workload != cluster.Workload{}:
		of = fmt.Sprintf(" of %s %s/%s", o.Workload.Kind, o.Pod.Namespace, o.Workload.Name)
		err = keepPodsOf(e.Cluster, o.Pod.Namespace, o.Workload, asked)
	case o.Pod.Namespace != "":
		of = " of namespace " + o.Pod.Namespace
	}
	if err != nil {
		return nil, err
	}
	if o.Progress != nil {
		o.Progress("schedules", 0, 0)
	}
	if err := e.Run(ctx); err != nil {
		return nil, err
	}
	r := &All{Groups: []*Group{}, Counts: Counts{Pods: len(asked)}, of: of}
	pods := r.group(e, o.Recorder, asked)
	asks = false
	for i, group := range r.Groups {
		if o.Progress != nil {
			o.Progress("tries changes", i, len(r.Groups))
		}
		group.describe()
		if minor.PodGroupOf(group.first) == "" {
			group.Changes, group.Unlisted, err = changes(ctx, e, group.first, group.attempt)
			if err == nil {
				err = group.tryOthers(ctx, e)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	e.LacksFor(pods)
	if len(r.Preempt) > 0 {
		e.LacksForPreemption()
	}
	e.LacksForNodes(slices.DeleteFunc(cluster.All[*v1.Pod](e.Cluster), func(pod *v1.Pod) bool { return !asked.Has(cluster.NameOf(pod).String()) }))
	r.Basis = e.Describe()
	r.Counts.Causes = len(r.Groups)
	r.Verdict = r.Basis.Qualify(r.verdict())
	return r, nil
}

// checkNamespace returns an error if nothing in a cluster says that it has a namespace.
func checkNamespace(s *snapshot.Snapshot, namespace string) error {
	others := sets.New[string]()
	for i := range s.Pods {
		others.Insert(s.Pods[i].Namespace)
	}
	exists := slices.ContainsFunc(s.Namespaces, func(n v1.Namespace) bool { return n.Name == namespace })
	if namespace == "" || exists || others.Has(namespace) {
		return nil
	}
	return fmt.Errorf("namespace %s does not exist, or has no pods here: pods are in %s", namespace, report.Few(sets.List(others)))
}

// Workloads are the kinds of which Options may have a workload.
var Workloads = map[string]cluster.Object{
	"Deployment": &appsv1.Deployment{}, "StatefulSet": &appsv1.StatefulSet{}, "DaemonSet": &appsv1.DaemonSet{}, "ReplicaSet": &appsv1.ReplicaSet{},
	"Job": &batchv1.Job{}, "CronJob": &batchv1.CronJob{}, "ReplicationController": &v1.ReplicationController{},
}

// keepPodsOf removes pods that are not of a workload from a set. That there is no such workload is an error, which names other namespaces
// with pods of one, and that it has no pods.
func keepPodsOf(c *cluster.Cluster, namespace string, w cluster.Workload, pods sets.Set[string]) error {
	all, others := sets.New[string](), sets.New[string]()
	for _, pod := range cluster.All[*v1.Pod](c) {
		owner := metav1.GetControllerOf(pod)
		switch {
		case c.WorkloadOf(pod) != w && (owner == nil || owner.Kind != w.Kind || owner.Name != w.Name):
		case pod.Namespace == namespace:
			all.Insert(cluster.NameOf(pod).String())
		default:
			others.Insert(pod.Namespace)
		}
	}
	object := Workloads[w.Kind].DeepCopyObject().(cluster.Object)
	object.SetNamespace(namespace)
	object.SetName(w.Name)
	if len(all) == 0 && c.Current(object) == nil {
		err := fmt.Errorf("namespace %s has no %s %s", namespace, w.Kind, w.Name)
		if len(others) > 0 {
			err = fmt.Errorf("%w: it is in namespace %s", err, report.Few(sets.List(others)))
		}
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s %s/%s has no pods: kubectl describe shows why none is created", w.Kind, namespace, w.Name)
	}
	for name := range pods {
		if !all.Has(name) {
			pods.Delete(name)
		}
	}
	return nil
}

// group groups the pods that stay pending by their cause, and returns them.
func (r *All) group(e *engine.Engine, attempts *recorder.Recorder, asked sets.Set[string]) (pods []*v1.Pod) {
	groups := map[string]*Group{}
	for _, name := range sets.List(asked) {
		namespace, short, _ := strings.Cut(name, "/")
		pod := cluster.Get[*v1.Pod](e.Cluster, namespace, short)
		if pod == nil || pod.Spec.NodeName != "" {
			o := e.Outcome(types.NamespacedName{Namespace: namespace, Name: short})
			if len(o.Preempted) > 0 {
				r.Preempt = append(r.Preempt, Preemption{Pod: name, Node: o.Node, Preempted: namesOf(o.Preempted)})
			} else {
				r.Scheduled = append(r.Scheduled, name)
			}
			continue
		}
		pods = append(pods, pod)
		o := e.Outcome(cluster.NameOf(pod))
		var attempt *recorder.Attempt
		reason, cause := o.Reason(), o.Reason()
		last, ok := attempts.Latest(namespace, short)
		if ok && o.State != engine.NotAsked {
			attempt = &last
			reason, cause = last.Reason(metav1.GetControllerOf(pod))
		}
		policies := e.Scheduler.Policies(pod)
		cause, keys, patterns := withoutPatterns(cause, pod, policies)
		if of := minor.PodGroupOf(pod); of != "" {
			cause = "PodGroup " + namespace + "/" + of + " is pending"
		}
		key := fmt.Sprint(cause, keys) // what helps changes these annotations
		if groups[key] == nil {
			groups[key] = &Group{Cause: cause, Message: o.Message, reason: reason, first: pod, attempt: attempt, outcome: o}
			r.Groups = append(r.Groups, groups[key])
		}
		of := groups[key]
		of.Pods = append(of.Pods, name)
		of.differ = of.differ || of.reason != reason
		of.Patterns = append(of.Patterns, patterns...)
		if !alike(of.first, pod, policies) {
			of.Unlike++
		}
	}
	for _, group := range r.Groups {
		slices.Sort(group.Patterns)
		group.Patterns = slices.Compact(group.Patterns)
		if len(group.Patterns) == 1 {
			group.Patterns = nil // the reason has it
		}
	}
	r.Counts.Pending = len(pods)
	r.Counts.Preempt = len(r.Preempt)
	slices.SortStableFunc(r.Groups, func(a, b *Group) int { return len(b.Pods) - len(a.Pods) })
	return pods
}

// withoutPatterns takes a pod's own patterns out of a cause: pods that differ in them alone, under the same keys, are pending for the same one.
func withoutPatterns(cause string, pod *v1.Pod, policies []regex.Policy) (without string, keys, patterns []string) {
	for _, policy := range policies {
		for _, key := range policy.Keys() {
			pattern, ok := pod.Annotations[key]
			shown := " " + printable.Quote(printable.Short(pattern))
			if ok && strings.Contains(cause, shown) {
				cause = strings.ReplaceAll(cause, shown, "")
				keys = append(keys, key)
				patterns = append(patterns, pattern)
			}
		}
	}
	return strings.TrimSuffix(cause, ":"), keys, patterns
}

// alike reports whether the same changes may help two pods, whose regex is read by some policies.
func alike(a, b *v1.Pod, policies []regex.Policy) bool {
	options := resourcehelper.PodResourcesOptions{}
	return a == b || quota.Equals(resourcehelper.PodRequests(a, options), resourcehelper.PodRequests(b, options)) &&
		equality.Semantic.DeepEqual(constraints(a, policies), constraints(b, policies))
}

// constraints are on which nodes a pod may run, beside its requests.
func constraints(pod *v1.Pod, policies []regex.Policy) []any {
	var ports []v1.ContainerPort
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.HostPort > 0 {
				ports = append(ports, port)
			}
		}
	}
	var patterns []string
	for _, policy := range policies {
		patterns = append(patterns, pod.Annotations[policy.Annotation], pod.Annotations[policy.ExcludeAnnotation])
	}
	return []any{
		pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.Tolerations, pod.Spec.TopologySpreadConstraints, pod.Spec.SchedulingGates, patterns, ports,
	}
}

// describe says why the pods of a group are pending.
func (g *Group) describe() {
	why := because(g.outcome, g.attempt)
	switch {
	case len(g.Pods) == 1:
		g.Verdict = "Pod " + g.Pods[0] + " is pending" + why
	case g.differ:
		g.Verdict = fmt.Sprintf("%d pods are pending for the same cause. The first one is pending%s", len(g.Pods), why)
	default:
		g.Verdict = fmt.Sprintf("%d pods are pending%s", len(g.Pods), why)
	}
}

func (r *All) verdict() string {
	of := r.of
	switch {
	case r.Counts.Pods == 0:
		return "No pod" + of + " is pending"
	case r.Counts.Pending+r.Counts.Preempt == 0 && r.Counts.Pods == 1:
		return "Nothing keeps the pending pod" + of + " pending in the copy: it would be scheduled"
	case r.Counts.Pending+r.Counts.Preempt == 0:
		return "Nothing keeps the pending pods" + of + " pending in the copy: all " + report.Plural(r.Counts.Pods, "pod") + " would be scheduled"
	}
	are := func(pods int) string {
		subject, verb := report.Plural(pods, "pod"), " are"
		if len(r.Scheduled) > 0 { // kubectl shows these as Pending, too
			subject = fmt.Sprintf("%d of %d pending pods", pods, r.Counts.Pods)
		}
		if pods == 1 {
			verb = " is"
		}
		return subject + of + verb
	}
	still := " pending"
	if len(r.Scheduled) > 0 {
		still = " still pending in the copy"
	}
	var texts []string
	if r.Counts.Pending > 0 {
		texts = append(texts, are(r.Counts.Pending)+still+", for "+report.Plural(len(r.Groups), "cause"))
	}
	if r.Counts.Preempt > 0 {
		texts = append(texts, are(r.Counts.Preempt)+" pending until there is room by preemption")
	}
	return strings.Join(texts, ". ")
}
