package scheduling

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"

	"wasmkwokwizardry.io/regex-scheduling/internal/private"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// spreading has PodTopologySpread count pods on fewer nodes, with the same result. PreScore lists only nodes that have pods to count.
// PreFilter gets one node of each class of the others, too, by which it knows the domains that have no such pods.
type spreading struct {
	fwk.SharedLister                               // of all nodes
	defaultSelector  func(*v1.Pod) labels.Selector // of a pod without constraints of its own
	pod              *v1.Pod                       // of the current attempt
	known            map[string][]countedNode      // by what is read of a pod: nodes by their places in the list
	classes          map[string]int
	kept             int // as in [nodeVerdicts]
}

// countedNode is what is known of a node until it changes, as in [nodeVerdict].
type countedNode struct {
	generation int64
	has        bool // it has pods to count
	class      int  // nodes of one class differ in nothing that the constraints read but pods
}

func newSpreading(c *cluster.Cluster) *spreading {
	core, apps := c.Scheduling.Core().V1(), c.Scheduling.Apps().V1()
	services, controllers := core.Services().Lister(), core.ReplicationControllers().Lister()
	replicaSets, statefulSets := apps.ReplicaSets().Lister(), apps.StatefulSets().Lister()
	return &spreading{defaultSelector: func(pod *v1.Pod) labels.Selector {
		return helper.DefaultSelector(pod, services, controllers, replicaSets, statefulSets)
	}}
}

// attach fails if the plugin of a profile is not as the engine knows it.
func (s *spreading) attach(of framework.Framework) error {
	plugins := private.Field[map[string]fwk.Plugin](of, "pluginsMap")
	if plugins == nil {
		return fmt.Errorf("%T is not as the engine knows it: it has no pluginsMap", of)
	}
	plugin, ok := (*plugins)[names.PodTopologySpread].(*podtopologyspread.PodTopologySpread)
	if !ok { // it is disabled, or another one
		return nil
	}
	lister := private.Field[fwk.SharedLister](plugin, "sharedLister")
	if lister == nil {
		return fmt.Errorf("%T is not as the engine knows it: it has no sharedLister", plugin)
	}
	s.SharedLister = *lister
	*lister = s
	private.Wrap(of, "preFilterPlugins", func(p fwk.PreFilterPlugin) fwk.PreFilterPlugin {
		if p.Name() != plugin.Name() {
			return p
		}
		return spreadingPreFilter{p, s}
	})
	return nil
}

type spreadingPreFilter struct {
	fwk.PreFilterPlugin
	spreading *spreading
}

// PreFilter implements fwk.PreFilterPlugin. Constraints that are a profile's defaults are left as they are.
func (p spreadingPreFilter) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == v1.DoNotSchedule }) {
		nodes = p.spreading.narrow(pod, nodes, true)
	}
	return p.PreFilterPlugin.PreFilter(ctx, state, pod, nodes)
}

// NodeInfos implements fwk.SharedLister. PreScore calls it, and nothing else of the plugin.
func (s *spreading) NodeInfos() fwk.NodeInfoLister {
	return spreadingNodes{s.SharedLister.NodeInfos(), s}
}

type spreadingNodes struct {
	fwk.NodeInfoLister
	spreading *spreading
}

// List implements fwk.NodeInfoLister.
func (n spreadingNodes) List() ([]fwk.NodeInfo, error) {
	all, err := n.NodeInfoLister.List()
	return n.spreading.narrow(n.spreading.pod, all, false), err
}

// narrow leaves of a list the nodes that have pods to count for a pod, and, if it is for domains, the first one of each class.
func (s *spreading) narrow(pod *v1.Pod, nodes []fwk.NodeInfo, domains bool) (left []fwk.NodeInfo) {
	selectors := s.selectors(pod)
	if len(selectors) == 0 || len(nodes) == 0 {
		return nodes
	}
	known := s.nodesFor(pod, selectors, len(nodes), domains)
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	seen := map[int]bool{}
	for i, node := range nodes {
		is := &known[i]
		if is.generation != node.GetGeneration() {
			*is = countedNode{generation: node.GetGeneration(), has: hasSelected(node, pod.Namespace, selectors)}
			if domains {
				is.class = s.classOf(node.Node(), pod, affinity)
			}
		}
		if is.has || domains && !seen[is.class] {
			left = append(left, node)
			seen[is.class] = true
		}
	}
	if len(left) == 0 {
		return nodes[:1] // PreScore without nodes has none scored
	}
	return left
}

// selectors select at least the pods that are counted for a pod; none if that is not known.
func (s *spreading) selectors(pod *v1.Pod) (all []labels.Selector) {
	if len(pod.Spec.TopologySpreadConstraints) == 0 {
		return []labels.Selector{s.defaultSelector(pod)}
	}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil {
			return nil
		}
		all = append(all, selector)
	}
	return all
}

// nodesFor are the nodes as they are known for pods like one.
func (s *spreading) nodesFor(pod *v1.Pod, selectors []labels.Selector, nodes int, domains bool) []countedNode {
	read := fmt.Sprint(domains, pod.Namespace)
	for _, selector := range selectors {
		read += " " + cluster.SelectorKey(selector)
	}
	if domains {
		text, _ := json.Marshal([]any{pod.Spec.TopologySpreadConstraints, pod.Spec.NodeSelector, pod.Spec.Affinity}) // which are of JSON
		read += string(text)
	}
	if len(s.known[read]) != nodes {
		s.kept += nodes + len(read)/keptBytes
	}
	if s.kept > mostKept || s.known == nil {
		s.known = map[string][]countedNode{}
		s.classes = map[string]int{}
		s.kept = nodes + len(read)/keptBytes
	}
	if len(s.known[read]) != nodes {
		s.known[read] = make([]countedNode, nodes)
	}
	return s.known[read]
}

func hasSelected(node fwk.NodeInfo, namespace string, selectors []labels.Selector) bool {
	return slices.ContainsFunc(node.GetPods(), func(on fwk.PodInfo) bool {
		pod := on.GetPod()
		return pod.Namespace == namespace && slices.ContainsFunc(selectors, func(s labels.Selector) bool { return s.Matches(labels.Set(pod.Labels)) })
	})
}

func (s *spreading) classOf(node *v1.Node, pod *v1.Pod, affinity nodeaffinity.RequiredNodeAffinity) int {
	chosen, _ := affinity.Match(node) // an error is false for the plugin, too
	text := fmt.Sprint(chosen)
	for _, c := range pod.Spec.TopologySpreadConstraints {
		value, ok := node.Labels[c.TopologyKey]
		text += fmt.Sprintf(" %t %q", ok, value)
		if c.NodeTaintsPolicy != nil {
			text += fmt.Sprintf("%+v", node.Spec.Taints)
		}
	}
	if _, ok := s.classes[text]; !ok {
		s.kept += 1 + len(text)/keptBytes
		s.classes[text] = len(s.classes)
	}
	return s.classes[text]
}
