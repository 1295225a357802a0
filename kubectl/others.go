package kubectl

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
)

// others are the pods that run on nodes, as far as they matter to a pending pod.
type others struct {
	onNode map[string][]*v1.Pod
	repels map[domain]string // why an anti-affinity rejects the pod there
}

// domain is a topology domain: the nodes with a label.
type domain struct{ key, value string }

func newOthers(pod *v1.Pod, seen *surroundings) *others {
	o := &others{onNode: map[string][]*v1.Pod{}, repels: map[domain]string{}}
	nodes := map[string]labels.Set{}
	for _, node := range seen.nodes {
		nodes[node.Name] = node.Labels
	}
	repel := func(term v1.PodAffinityTerm, other *v1.Pod, reason string) {
		if value, ok := nodes[other.Spec.NodeName][term.TopologyKey]; ok {
			o.repels[domain{term.TopologyKey, value}] = fmt.Sprintf(reason, nameOf(other), term.TopologyKey)
		}
	}
	for _, other := range seen.pods {
		o.onNode[other.Spec.NodeName] = append(o.onNode[other.Spec.NodeName], other)
		for _, term := range antiAffinity(other) {
			if selects(other, term, pod, seen.namespaces[pod.Namespace]) {
				repel(term, other, "the anti-affinity of pod %s rejects it: that pod has the same %s")
			}
		}
		for _, term := range antiAffinity(pod) {
			if selects(pod, term, other, seen.namespaces[other.Namespace]) {
				repel(term, other, "the pod's anti-affinity rejects it: pod %s has the same %s")
			}
		}
	}
	return o
}

// antiAffinity returns the terms that a pod requires.
func antiAffinity(pod *v1.Pod) []v1.PodAffinityTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// selects reports whether a pod's term selects another pod, whose namespace has some labels.
func selects(pod *v1.Pod, term v1.PodAffinityTerm, other *v1.Pod, namespace labels.Set) bool {
	matches := func(selector *metav1.LabelSelector, has labels.Set) bool {
		s, err := metav1.LabelSelectorAsSelector(selector)
		return err == nil && s.Matches(has) // the API server accepts only valid selectors
	}
	if !matches(term.LabelSelector, other.Labels) {
		return false
	}
	if term.Namespaces == nil && term.NamespaceSelector == nil {
		return other.Namespace == pod.Namespace
	}
	return slices.Contains(term.Namespaces, other.Namespace) || matches(term.NamespaceSelector, namespace)
}

func conflict(a, b v1.ContainerPort) bool {
	all := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	return a.HostPort > 0 && a.HostPort == b.HostPort && a.Protocol == b.Protocol && (a.HostIP == b.HostIP || all(a.HostIP) || all(b.HostIP))
}

// hostPorts returns the ports of the containers that run as long as the pod does.
func hostPorts(pod *v1.Pod) (ports []v1.ContainerPort) {
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
			ports = append(ports, c.Ports...)
		}
	}
	for _, c := range pod.Spec.Containers {
		ports = append(ports, c.Ports...)
	}
	return ports
}

var onePod = *apiresource.NewQuantity(1, apiresource.DecimalSI)

// requests returns what a pod takes of a node.
func requests(pod *v1.Pod) v1.ResourceList {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{UseStatusResources: true})
	requests[v1.ResourcePods] = onePod
	return requests
}

func nameOf(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }
