package why

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	quota "k8s.io/apiserver/pkg/quota/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

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
	Nodes  int    `json:"nodes,omitempty"` // how many are feasible then
}

// String says what the change does.
func (c Change) String() string {
	if c.Helps {
		return fmt.Sprintf("%s: then it fits %s", c.Change, engine.Place(c.Node, c.Nodes))
	}
	return c.Change + ": not enough alone"
}

// candidate is a change that may help.
type candidate struct {
	says  string
	apply func(*v1.Pod) // a pod that is changed instead of a node gets the same verdicts
	cause bool          // a plugin has rejected nodes for it: it is named, too, if it does not help alone
	room  bool          // it is more room: of several nodes the first that helps is named
	nodes []string      // that it is about: the one that the pod would get belongs to what it says
}

// changes are single changes, the smallest first. Changes that help come before causes that are not the only ones.
func changes(ctx context.Context, e *engine.Engine, pod *v1.Pod, attempt *recorder.Attempt) (all []Change, err error) {
	on := nodesBy(attempt)
	var others []Change
	hasRoom := false
	for _, one := range slices.Concat(
		uncordon(on[names.NodeUnschedulable]), gates(pod), resources(e.Cluster, pod, on[names.NodeResourcesFit]), taints(e.Cluster, pod, on[names.TaintToleration]),
		labels(pod, len(on[names.NodeAffinity]) > 0), patterns(pod, attempt), ports(len(on[names.NodePorts]) > 0),
		spreading(pod, len(on[names.PodTopologySpread]) > 0), affinity(pod, len(on[names.InterPodAffinity]) > 0),
	) {
		if one.room && hasRoom {
			continue
		}
		changed := pod.DeepCopy()
		one.apply(changed)
		node, nodes, err := e.Feasible(ctx, changed)
		switch {
		case err != nil:
			return nil, err
		case node == "" && one.cause:
			others = append(others, Change{Change: strings.TrimSpace(one.says + " " + report.Few(one.nodes))})
		case node != "":
			if len(one.nodes) > 0 {
				one.says += " " + node
			}
			hasRoom = hasRoom || one.room
			all = append(all, Change{Change: one.says, Helps: true, Node: node, Nodes: nodes})
		}
	}
	return append(all, others...), nil
}

// nodesBy are the nodes that each plugin has rejected.
func nodesBy(attempt *recorder.Attempt) map[string][]string {
	on := map[string][]string{}
	if attempt == nil {
		return on
	}
	for _, group := range attempt.Causes() {
		if group.Column >= 0 {
			plugin := attempt.Columns[group.Column].Name
			on[plugin] = append(on[plugin], group.Nodes()...)
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
	return []candidate{{says: "uncordon", apply: tolerate, cause: true, nodes: nodes}}
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

// mostNodes is on how many nodes more room is tried: on the ones that lack least.
const mostNodes = 3

// shortage is what a node lacks for a pod.
type shortage struct {
	node    string
	missing v1.ResourceList
	share   float64 // of what the pod requests
}

func resources(c *cluster.Cluster, pod *v1.Pod, nodes []string) (all []candidate) {
	if len(nodes) == 0 {
		return nil
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	used := map[string]v1.ResourceList{}
	for _, other := range cluster.All[*v1.Pod](c) {
		if other.Spec.NodeName != "" && !podutil.IsPodTerminal(other) {
			used[other.Spec.NodeName] = quota.Add(used[other.Spec.NodeName], resourcehelper.PodRequests(other, resourcehelper.PodResourcesOptions{}))
		}
	}
	var shortages []shortage
	for _, name := range nodes {
		node := cluster.Get[*v1.Node](c, "", name)
		if node == nil {
			continue
		}
		one := shortage{node: name, missing: v1.ResourceList{}}
		for resource, quantity := range requests {
			missing := quantity.DeepCopy()
			missing.Sub(node.Status.Allocatable[resource])
			missing.Add(used[name][resource])
			if missing.Sign() > 0 && !quantity.IsZero() {
				one.missing[resource] = missing
				one.share += missing.AsApproximateFloat64() / quantity.AsApproximateFloat64()
			}
		}
		if len(one.missing) > 0 { // or it has as many pods as it may
			shortages = append(shortages, one)
		}
	}
	slices.SortFunc(shortages, func(a, b shortage) int { return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.node, b.node)) })
	for i, one := range shortages[:min(len(shortages), mostNodes)] {
		var texts []string
		says := "free %s on %s, or request so much less"
		for _, name := range slices.Sorted(maps.Keys(one.missing)) {
			missing, quantity, used := one.missing[name], requests[name], used[one.node][name]
			texts = append(texts, fmt.Sprintf("%s of %s (it requests %s)", missing.String(), name, quantity.String()))
			if missing.Cmp(used) > 0 {
				says = "request %s less, as much as %s has left, or add a larger node"
			}
		}
		apply := func(pod *v1.Pod) {
			for name, missing := range one.missing {
				left := requests[name].DeepCopy()
				left.Sub(missing)
				request(&pod.Spec, name, left)
			}
		}
		all = append(all, candidate{says: fmt.Sprintf(says, strings.Join(texts, " and "), one.node), apply: apply, cause: i == 0, room: true})
	}
	return all
}

// request has a pod request so much of a resource.
func request(spec *v1.PodSpec, name v1.ResourceName, amount resource.Quantity) {
	for _, containers := range [][]v1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			delete(containers[i].Resources.Requests, name)
		}
	}
	delete(spec.Overhead, name)
	if spec.Resources != nil {
		delete(spec.Resources.Requests, name)
	}
	if amount.Sign() > 0 {
		first := &spec.Containers[0].Resources
		first.Requests = quota.Add(first.Requests, v1.ResourceList{name: amount})
	}
}

// mostTaints is how many taints are tried.
const mostTaints = 3

func taints(c *cluster.Cluster, pod *v1.Pod, nodes []string) (all []candidate) {
	on := map[v1.Taint][]string{}
	for _, name := range nodes {
		node := cluster.Get[*v1.Node](c, "", name)
		if node == nil {
			continue
		}
		for _, taint := range node.Spec.Taints {
			taint.TimeAdded = nil
			tolerated, _ := helper.GetMatchingTolerations(klog.New(nil), []v1.Taint{taint}, pod.Spec.Tolerations)
			if !tolerated && taint.Effect != v1.TaintEffectPreferNoSchedule {
				on[taint] = append(on[taint], name)
			}
		}
	}
	sorted := slices.SortedFunc(maps.Keys(on), func(a, b v1.Taint) int {
		return cmp.Or(len(on[b])-len(on[a]), cmp.Compare(a.ToString(), b.ToString()))
	})
	for _, taint := range sorted[:min(len(sorted), mostTaints)] {
		says := fmt.Sprintf("tolerate the taint %s of %s, or remove it", taint.ToString(), report.Few(on[taint]))
		if strings.HasPrefix(taint.Key, "node.kubernetes.io/") { // Kubernetes adds it, and takes it away
			says = fmt.Sprintf("repair %s, so that the taint %s goes", report.Few(on[taint]), taint.ToString())
		}
		all = append(all, candidate{says: says, cause: true, apply: func(pod *v1.Pod) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Key: taint.Key, Value: taint.Value, Operator: v1.TolerationOpEqual, Effect: taint.Effect})
		}})
	}
	return all
}

func labels(pod *v1.Pod, cause bool) (all []candidate) {
	selector := pod.Spec.NodeSelector
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		all = append(all, candidate{
			says:  fmt.Sprintf("remove %s=%s from its nodeSelector, or label a node so", key, selector[key]),
			apply: func(pod *v1.Pod) { delete(pod.Spec.NodeSelector, key) }, cause: cause,
		})
	}
	affinity := pod.Spec.Affinity
	if affinity != nil && affinity.NodeAffinity != nil && affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		all = append(all, candidate{
			says:  "remove its required nodeAffinity, or label a node so",
			apply: func(pod *v1.Pod) { pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil }, cause: cause,
		})
	}
	return all
}

func patterns(pod *v1.Pod, attempt *recorder.Attempt) (all []candidate) {
	cause := attempt != nil && slices.ContainsFunc(attempt.Causes(), func(g recorder.Group) bool { return strings.Contains(g.Reason, "regex") })
	for role, node := range []string{regex.Require: "a node with such a name", regex.Exclude: "a node with another name", regex.Prefer: ""} {
		key := regex.Default.Key(regex.Role(role))
		pattern, ok := pod.Annotations[key]
		_, refused := regex.Default.Compile(pod.Annotations, regex.Role(role))
		says := "change the annotation " + key
		switch {
		case !ok || refused == nil && node == "":
			continue
		case refused == nil: // else no node would help
			says += fmt.Sprintf(": %s, or add %s", pattern, node)
		}
		all = append(all, candidate{says: says, apply: func(pod *v1.Pod) { delete(pod.Annotations, key) }, cause: cause})
	}
	return all
}

func ports(cause bool) []candidate {
	if !cause {
		return nil
	}
	return []candidate{{says: "remove its host ports, or add a node on which they are free", cause: true, apply: func(pod *v1.Pod) {
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
	if !cause || pod.Spec.Affinity == nil {
		return nil
	}
	if pod.Spec.Affinity.PodAffinity != nil {
		all = append(all, candidate{says: "remove its podAffinity", apply: func(pod *v1.Pod) { pod.Spec.Affinity.PodAffinity = nil }, cause: true})
	}
	if pod.Spec.Affinity.PodAntiAffinity != nil {
		all = append(all, candidate{says: "remove its podAntiAffinity", apply: func(pod *v1.Pod) { pod.Spec.Affinity.PodAntiAffinity = nil }, cause: true})
	}
	return all
}
