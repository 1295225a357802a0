package kubectl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// obstacle is why a node is no place for a pod, and what would help.
type obstacle struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
	Help   string `json:"help"`
}

func (o obstacle) String() string { return o.Node + ": " + o.Reason }

// obstacles looks at the nodes with some names for what nodes and pods show: cordons,
// taints, selectors, affinity to nodes, requests, ports and anti-affinity. All else,
// such as volumes and topology spread, is the scheduler's to say.
func obstacles(pod *v1.Pod, seen *surroundings, names []string) (all []obstacle) {
	o := newOthers(pod, seen)
	for _, node := range seen.nodes {
		if _, found := slices.BinarySearch(names, node.Name); !found {
			continue
		}
		for _, look := range []func(*v1.Pod, *v1.Node) (reason, help string){cordon, taint, affinity, size, o.room, o.ports, o.repelled} {
			if reason, help := look(pod, node); reason != "" {
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

// taint is the first that is in the way. The one of a cordon says nothing more.
func taint(pod *v1.Pod, node *v1.Node) (reason, help string) {
	t, found := corev1.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, func(t *v1.Taint) bool {
		return t.Key != v1.TaintNodeUnschedulable && t.Effect != v1.TaintEffectPreferNoSchedule
	}, false)
	if !found {
		return "", ""
	}
	reason = "it has the taint " + t.ToString() + ", which the pod does not tolerate"
	if strings.HasPrefix(t.Key, "node.kubernetes.io/") { // of a condition: removed, it would be set again
		return reason, "kubectl describe node " + node.Name + ": the taint goes when its cause does"
	}
	return reason,
		fmt.Sprintf("give the pod a toleration of %s, or kubectl taint node %s %s-", t.ToString(), node.Name, t.ToString())
}

func affinity(pod *v1.Pod, node *v1.Node) (reason, help string) {
	switch ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); {
	case err != nil:
		return "the pod's affinity to nodes: " + err.Error(), "mend the pod's affinity"
	case !ok:
		return "its labels are not those that the pod's nodeSelector or affinity wants", "label the node, or drop the pod's nodeSelector or affinity"
	}
	return "", ""
}

// size compares what a pod asks for with all that a node has.
func size(pod *v1.Pod, node *v1.Node) (reason, help string) {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	var short []string
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if asked, has := requests[name], node.Status.Allocatable[name]; asked.Cmp(has) > 0 {
			short = append(short, fmt.Sprintf("%s of %s %s", &asked, &has, name))
		}
	}
	if short == nil {
		return "", ""
	}
	return "the pod asks for more than it has in all: " + strings.Join(short, ", "), "let the pod ask for less, or let the pattern match a larger node"
}
