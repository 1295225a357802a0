package kubectl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// obstacle is why a node rejects a pod, and what would help.
type obstacle struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
	Help   string `json:"help"`
}

func (o obstacle) String() string { return o.Node + ": " + o.Reason }

// obstacles looks at the named nodes for what their objects and the pods on them show:
// cordons, taints, node selectors and affinity, requests, host ports and anti-affinity.
// Only the scheduler knows the rest, such as volumes and topology spread.
func obstacles(pod *v1.Pod, seen *surroundings, names []string) (all []obstacle) {
	o := newOthers(pod, seen)
	checks := []func(*v1.Pod, *v1.Node) (reason, help string){cordon, taint, affinity, o.resources, o.ports, o.antiAffinity}
	for _, node := range seen.nodes {
		if _, found := slices.BinarySearch(names, node.Name); !found {
			continue
		}
		for _, check := range checks {
			if reason, help := check(pod, node); reason != "" {
				all = append(all, obstacle{node.Name, reason, help})
			}
		}
	}
	return all
}

func cordon(pod *v1.Pod, node *v1.Node) (reason, help string) {
	cordoned := &v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}
	if !node.Spec.Unschedulable || corev1.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations, cordoned, false) {
		return "", ""
	}
	return "it is cordoned", "kubectl uncordon " + node.Name
}

// taint finds the first taint that rejects the pod. cordon reports the taint of a cordon.
func taint(pod *v1.Pod, node *v1.Node) (reason, help string) {
	t, found := corev1.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, func(t *v1.Taint) bool {
		return t.Key != v1.TaintNodeUnschedulable && t.Effect != v1.TaintEffectPreferNoSchedule
	}, false)
	if !found {
		return "", ""
	}
	reason = "it has the taint " + t.ToString() + ", which the pod does not tolerate"
	if strings.HasPrefix(t.Key, "node.kubernetes.io/") { // of a condition: a controller would set it again
		return reason, "kubectl describe node " + node.Name + ": the taint goes when its cause does"
	}
	return reason, fmt.Sprintf("give the pod a toleration of %s, or kubectl taint node %s %s-", t.ToString(), node.Name, t.ToString())
}

func affinity(pod *v1.Pod, node *v1.Node) (reason, help string) {
	switch ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); {
	case err != nil:
		return "the pod's node affinity: " + err.Error(), "fix the pod's node affinity"
	case !ok:
		return "its labels do not match the pod's nodeSelector or node affinity", "label the node, or remove the pod's nodeSelector or node affinity"
	}
	return "", ""
}

// resources compares the pod's requests with what the node has, and with what its pods leave.
func (o *others) resources(pod *v1.Pod, node *v1.Node) (reason, help string) {
	free := node.Status.Allocatable.DeepCopy()
	for _, other := range o.onNode[node.Name] {
		for name, request := range requests(other) {
			left := free[name]
			left.Sub(request)
			free[name] = left
		}
	}
	var tooLarge, taken []string
	asked := requests(pod)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		request, left, all := asked[name], free[name], node.Status.Allocatable[name]
		switch {
		case request.IsZero() || name == v1.ResourcePods && all.IsZero(): // nothing, or an allocatable that is not set
		case request.Cmp(all) > 0:
			tooLarge = append(tooLarge, fmt.Sprintf("%s of %s %s", &request, &all, name))
		case request.Cmp(left) > 0:
			taken = append(taken, fmt.Sprintf("%s of %s %s", &request, &left, name))
		}
	}
	switch {
	case tooLarge != nil:
		return "the pod requests more than it has in all: " + strings.Join(tooLarge, ", "),
			"let the pod request less, or let the pattern match a larger node"
	case taken != nil:
		return "the pod requests more than is free: " + strings.Join(taken, ", "),
			"free resources there, let the pod request less, or let the pattern match a node with more room"
	}
	return "", ""
}

// ports looks for a host port that another pod uses.
func (o *others) ports(pod *v1.Pod, node *v1.Node) (reason, help string) {
	for _, other := range o.onNode[node.Name] {
		used := hostPorts(other)
		for _, port := range hostPorts(pod) {
			if slices.ContainsFunc(used, func(u v1.ContainerPort) bool { return conflict(u, port) }) {
				return fmt.Sprintf("pod %s uses the hostPort %d/%s", nameOf(other), port.HostPort, port.Protocol),
					"let the pattern match a node where the port is free, or change the hostPort of one of the two pods"
			}
		}
	}
	return "", ""
}

// antiAffinity looks for a required anti-affinity, of the pod or of another pod.
func (o *others) antiAffinity(_ *v1.Pod, node *v1.Node) (reason, help string) {
	for _, key := range slices.Sorted(maps.Keys(node.Labels)) {
		if reason := o.repels[domain{key, node.Labels[key]}]; reason != "" {
			return reason, fmt.Sprintf("let the pattern match a node with another %s, or change that anti-affinity", key)
		}
	}
	return "", ""
}
