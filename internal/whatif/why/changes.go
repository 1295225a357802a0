package why

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Change is a single change of a pending pod, or of a node, that was tried.
type Change struct {
	Change string `json:"change"`
	Helps  bool   `json:"helps"`           // the pod is scheduled with this change alone
	Node   string `json:"node,omitempty"`  // that it would get
	Nodes  int    `json:"nodes,omitempty"` // how many are feasible then, or more if they are Sampled
	// Sampled: the scheduler may not have looked at all nodes.
	Sampled bool `json:"sampled,omitempty"`
	// Others is for how many other pods of its group it was tried, each alone; nil: for none.
	Others *Others `json:"others,omitempty"`

	// Then is why the pod is not scheduled with this change alone: what more nodes reject it for than without the change.
	Then string `json:"then,omitempty"`

	candidate
}

// Others are pods that are pending for the same cause as the first one of their group.
type Others struct {
	Tried int `json:"tried"`
	Help  int `json:"help"` // of these, pods that are scheduled with the change alone
}

// String is the rest of a sentence about the first pod.
func (o *Others) String() string {
	switch {
	case o == nil:
		return ""
	case o.Help == 0:
		return fmt.Sprintf("; none of %s fits then", report.Plural(o.Tried, "other"))
	case o.Tried == 1:
		return "; 1 of 1 other fits then, too"
	}
	return fmt.Sprintf("; %d of %d others fit then, too", o.Help, o.Tried)
}

// String says what the change does. It cuts a long value, which Change has as it is.
func (c Change) String() string {
	change := strings.ReplaceAll(c.Change, c.value, printable.Short(c.value))
	if c.Helps {
		return fmt.Sprintf("%s: then it fits %s", change, engine.Place(c.Node, c.Nodes, c.Sampled)+c.Others.String())
	}
	change += ": not enough alone"
	if c.Then != "" {
		change += ", then " + c.Then
	}
	return change
}

// Unlisted are how many changes are not among the listed ones.
type Unlisted struct {
	NotEnough int `json:"notEnough,omitempty"` // they were tried, and do not help alone
	NotTried  int `json:"notTried,omitempty"`
}

// String is empty if all are listed.
func (u Unlisted) String() string {
	var texts []string
	if u.NotEnough > 0 {
		texts = append(texts, fmt.Sprintf("%d more: not enough alone", u.NotEnough))
	}
	if u.NotTried > 0 {
		texts = append(texts, fmt.Sprintf("%d more: not tried", u.NotTried))
	}
	return strings.Join(texts, "; ")
}

// candidate is a change that may help.
type candidate struct {
	says  string
	value string                   // a part of says that may be long; it may be empty
	apply func(*v1.Pod)            // a pod that is changed instead of a node gets the same verdicts; only a pod for which it applies
	cause bool                     // a plugin has rejected nodes for it: it is named, too, if it does not help alone
	then  func(node string) string // what it says if the pod would get this node; nil: the same
	// applies says whether it is the same change for another pod; nil: it is. If then is not nil, it is so on the same node.
	applies func(*v1.Pod) bool
}

// kind are changes of a kind, the smallest first.
type kind struct {
	all    []candidate
	listed int // so many are tried and listed; more are tried until one helps
}

// mostTried is how many changes of a kind are tried.
const mostTried = 50

// changes are single changes, the smallest first. Changes that help come before causes that are not the only ones.
func changes(ctx context.Context, e *engine.Engine, pod *v1.Pod, attempt *recorder.Attempt) (all []Change, unlisted Unlisted, err error) {
	on := nodesBy(e.Cluster, attempt)
	_, before, err := e.Feasible(ctx, pod)
	if err != nil {
		return nil, unlisted, err
	}
	if attempt != nil { // a guest's host that has remembered the nodes since then rejects the pod before other plugins
		maps.DeleteFunc(before, func(reason string, n int) bool {
			reason = strings.TrimPrefix(reason, fmt.Sprintf("%d ", n))
			return !slices.ContainsFunc(attempt.Causes(), func(g recorder.Group) bool { return strings.Contains(g.Reason, reason) })
		})
	}
	var others []Change
	for _, of := range []kind{
		{uncordon(on[names.NodeUnschedulable]), mostTried},
		{gates(pod), mostTried},
		{resources(e.Cluster, pod, on[names.NodeResourcesFit]), 1},
		{taints(e.Cluster, pod, on[names.TaintToleration]), 3},
		{labels(pod, len(on[names.NodeAffinity]) > 0), mostTried},
		{patterns(pod, attempt, e.Scheduler.Policies(pod)), mostTried},
		{ports(pod, len(on[names.NodePorts]) > 0), mostTried},
		{spreading(pod, len(on[names.PodTopologySpread]) > 0), mostTried},
		{affinity(pod, len(on[names.InterPodAffinity]) > 0), mostTried},
	} {
		helped := false
		for i, one := range of.all {
			if i >= mostTried || helped && i >= of.listed {
				unlisted.NotTried += len(of.all) - i
				break
			}
			changed := pod.DeepCopy()
			one.apply(changed)
			then, reasons, err := e.Feasible(ctx, changed)
			node := then.Node
			switch {
			case err != nil:
				return nil, unlisted, err
			case node == "" && i >= of.listed:
				unlisted.NotEnough++
			case node == "" && one.cause:
				others = append(others, Change{Change: one.says, Then: more(reasons, before), candidate: one})
			case !fits(e, then):
			default:
				if one.then != nil {
					one.says = one.then(node)
				}
				helped = true
				all = append(all, Change{Change: one.says, Helps: true, Node: node, Nodes: then.Feasible, Sampled: then.Sampled, candidate: one})
			}
		}
	}
	return append(all, others...), unlisted, nil
}

// fits says whether a pod would get a node, and one that stays.
func fits(e *engine.Engine, o engine.Outcome) bool {
	return o.Node != "" && (o.Feasible != 1 || !leaves(cluster.Get[*v1.Node](e.Cluster, "", o.Node)))
}

// more are reasons that more nodes have than before.
func more(now, before map[string]int) string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(now)) {
		n := now[reason] - before[reason]
		switch {
		case n > 0 && recorder.CountsNodes(reason):
			all = append(all, reason)
		case n > 0:
			all = append(all, fmt.Sprintf("%d %s", n, reason))
		}
	}
	return strings.Join(all, ", ")
}

// mostOthers is for how many other pods of a group a change that helps is tried.
const mostOthers = 10

// tryOthers tries the changes that help the first pod of a group for others, each alone.
func (g *Group) tryOthers(ctx context.Context, e *engine.Engine) error {
	for _, name := range g.Pods[1:min(len(g.Pods), 1+mostOthers)] {
		namespace, short, _ := strings.Cut(name, "/")
		pod := cluster.Get[*v1.Pod](e.Cluster, namespace, short)
		for i := range g.Changes {
			change := &g.Changes[i]
			if !change.Helps || change.applies != nil && !change.applies(pod) {
				continue
			}
			changed := pod.DeepCopy()
			change.apply(changed)
			if change.then != nil {
				restrict(changed, change.Node)
			}
			then, _, err := e.Feasible(ctx, changed)
			if err != nil {
				return err
			}
			if change.Others == nil {
				change.Others = &Others{}
			}
			change.Others.Tried++
			if fits(e, then) {
				change.Others.Help++
			}
		}
	}
	return nil
}

// restrict leaves a pod one node.
func restrict(pod *v1.Pod, node string) {
	affinity := ptr.Deref(pod.Spec.Affinity, v1.Affinity{})
	nodes := ptr.Deref(affinity.NodeAffinity, v1.NodeAffinity{})
	required := ptr.Deref(nodes.RequiredDuringSchedulingIgnoredDuringExecution, v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{}}})
	required.NodeSelectorTerms = slices.Clone(required.NodeSelectorTerms)
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		term.MatchFields = append(slices.Clone(term.MatchFields), v1.NodeSelectorRequirement{
			Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{node},
		})
	}
	nodes.RequiredDuringSchedulingIgnoredDuringExecution = &required
	affinity.NodeAffinity = &nodes
	pod.Spec.Affinity = &affinity
}

// nodesBy are the nodes that each plugin has rejected, except nodes that are about to be deleted.
func nodesBy(c *cluster.Cluster, attempt *recorder.Attempt) map[string][]string {
	on := map[string][]string{}
	if attempt == nil {
		return on
	}
	for _, group := range attempt.Causes() {
		if group.Column >= 0 {
			plugin := attempt.Columns[group.Column].Name
			for _, name := range group.Nodes() {
				if !leaves(cluster.Get[*v1.Node](c, "", name)) {
					on[plugin] = append(on[plugin], name)
				}
			}
		}
	}
	return on
}

func uncordon(nodes []string) []candidate {
	if len(nodes) == 0 {
		return nil
	}
	tolerate := func(pod *v1.Pod) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Key: v1.TaintNodeUnschedulable, Operator: v1.TolerationOpExists})
	}
	return []candidate{{
		says: "uncordon " + report.Few(nodes), apply: tolerate, cause: true,
		then: func(node string) string { return "uncordon " + node },
	}}
}

func gates(pod *v1.Pod) []candidate {
	var gates []string
	for _, gate := range pod.Spec.SchedulingGates {
		gates = append(gates, gate.Name)
	}
	if len(gates) == 0 {
		return nil
	}
	says := "remove the scheduling gate " + strings.Join(gates, ", ")
	return []candidate{{says: says, apply: func(pod *v1.Pod) { pod.Spec.SchedulingGates = nil }, cause: true}}
}

func labels(pod *v1.Pod, cause bool) (all []candidate) {
	selector := pod.Spec.NodeSelector
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		all = append(all, candidate{
			says:  fmt.Sprintf("remove %s=%s from its nodeSelector, or %s", key, selector[key], labelled(key)),
			apply: func(pod *v1.Pod) { delete(pod.Spec.NodeSelector, key) }, cause: cause,
			applies: func(pod *v1.Pod) bool { return pod.Spec.NodeSelector[key] == selector[key] },
		})
	}
	requires := func(pod *v1.Pod) bool {
		of := pod.Spec.Affinity
		return of != nil && of.NodeAffinity != nil && of.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
	}
	if !requires(pod) {
		return all
	}
	affinity := pod.Spec.Affinity
	var keys []string
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			keys = append(keys, field.Key)
		}
		for _, label := range term.MatchExpressions {
			keys = append(keys, label.Key)
		}
	}
	of := metav1.GetControllerOf(pod)
	if of != nil && of.Kind == "DaemonSet" && slices.Contains(keys, metav1.ObjectNameField) {
		return all // its controller makes a pod for each node
	}
	return append(all, candidate{
		says:  "remove its required nodeAffinity, or " + labelled(keys...),
		apply: func(pod *v1.Pod) { pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil }, cause: cause,
		applies: requires,
	})
}

// patterns are changes of the annotations that the scheduler reads.
func patterns(pod *v1.Pod, attempt *recorder.Attempt, policies []regex.Policy) (all []candidate) {
	cause := attempt != nil && slices.ContainsFunc(attempt.Causes(), func(g recorder.Group) bool { return strings.Contains(g.Reason, "regex") })
	seen := sets.Set[string]{} // keys, which policies may have in common
	for _, policy := range policies {
		for role, node := range []string{regex.Require: "a node with such a name", regex.Exclude: "a node with another name", regex.Prefer: ""} {
			key := policy.Key(regex.Role(role))
			pattern, ok := pod.Annotations[key]
			_, refused := policy.Compile(pod.Annotations, regex.Role(role))
			quoted := printable.Quote(pattern)
			says := "change the annotation " + key
			switch {
			case !ok || refused == nil && node == "" || seen.Has(key):
				continue
			case refused == nil: // else no node would help
				says += fmt.Sprintf(": %s, or add %s", quoted, node)
			}
			seen.Insert(key)
			all = append(all, candidate{says: says, value: quoted[1 : len(quoted)-1], apply: func(pod *v1.Pod) { delete(pod.Annotations, key) }, cause: cause})
		}
	}
	return all
}

func ports(pod *v1.Pod, cause bool) []candidate {
	if !cause {
		return nil
	}
	const orAdd = ", or add a node on which they are free"
	says := "remove its host ports" + orAdd
	var then func(node string) string
	if pod.Spec.HostNetwork { // all its ports are host ports
		says = "free its host ports" + orAdd
		then = func(node string) string { return "free its host ports on " + node + orAdd }
	}
	return []candidate{{says: says, then: then, cause: true, apply: func(pod *v1.Pod) {
		for i := range pod.Spec.Containers {
			for j := range pod.Spec.Containers[i].Ports {
				pod.Spec.Containers[i].Ports[j].HostPort = 0
			}
		}
	}}}
}

func spreading(pod *v1.Pod, cause bool) []candidate {
	if !cause || len(pod.Spec.TopologySpreadConstraints) == 0 {
		return nil
	}
	return []candidate{{says: "set whenUnsatisfiable: ScheduleAnyway in its topologySpreadConstraints", cause: true, apply: func(pod *v1.Pod) {
		for i := range pod.Spec.TopologySpreadConstraints {
			pod.Spec.TopologySpreadConstraints[i].WhenUnsatisfiable = v1.ScheduleAnyway
		}
	}}}
}

func affinity(pod *v1.Pod, cause bool) (all []candidate) {
	if !cause {
		return nil
	}
	for _, one := range []candidate{
		{
			says: "remove its podAffinity", cause: true,
			applies: func(pod *v1.Pod) bool { return pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAffinity != nil },
			apply:   func(pod *v1.Pod) { pod.Spec.Affinity.PodAffinity = nil },
		},
		{
			says: "remove its podAntiAffinity", cause: true,
			applies: func(pod *v1.Pod) bool { return pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAntiAffinity != nil },
			apply:   func(pod *v1.Pod) { pod.Spec.Affinity.PodAntiAffinity = nil },
		},
	} {
		if one.applies(pod) {
			all = append(all, one)
		}
	}
	return all
}
