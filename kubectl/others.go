package kubectl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
)

// others are the pods that have nodes, as they reject one that has none.
type others struct {
	onNode map[string][]*v1.Pod
	apart  []apart
}

// apart says where a term of anti-affinity rejects a pod, and because of which other one.
type apart struct {
	key string             // of the topology
	in  map[string]*v1.Pod // by its values
	own bool               // the term is the pod's own
}

func newOthers(pod *v1.Pod, seen *surroundings) *others {
	o := &others{onNode: map[string][]*v1.Pod{}}
	nodes := map[string]labels.Set{}
	for _, node := range seen.nodes {
		nodes[node.Name] = node.Labels
	}
	for _, other := range seen.pods {
		o.onNode[other.Spec.NodeName] = append(o.onNode[other.Spec.NodeName], other)
		for _, term := range antiAffinity(pod) {
			if selects(pod, term, other, seen.namespaces[other.Namespace]) {
				o.keepApart(term.TopologyKey, nodes[other.Spec.NodeName], other, true)
			}
		}
		for _, term := range antiAffinity(other) {
			if selects(other, term, pod, seen.namespaces[pod.Namespace]) {
				o.keepApart(term.TopologyKey, nodes[other.Spec.NodeName], other, false)
			}
		}
	}
	return o
}

// antiAffinity are the terms that a pod requires.
func antiAffinity(pod *v1.Pod) []v1.PodAffinityTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// selects reports whether a pod's term is about another pod, in a namespace with some labels.
func selects(pod *v1.Pod, term v1.PodAffinityTerm, other *v1.Pod, namespace labels.Set) bool {
	matches := func(selector *metav1.LabelSelector, has labels.Set) bool {
		s, err := metav1.LabelSelectorAsSelector(selector)
		return err == nil && s.Matches(has) // the API server takes no selector that cannot be read
	}
	if !matches(term.LabelSelector, other.Labels) {
		return false
	}
	if term.Namespaces == nil && term.NamespaceSelector == nil {
		return other.Namespace == pod.Namespace
	}
	return slices.Contains(term.Namespaces, other.Namespace) || matches(term.NamespaceSelector, namespace)
}

func (o *others) keepApart(key string, node labels.Set, other *v1.Pod, own bool) {
	value, ok := node[key]
	if !ok {
		return
	}
	i := slices.IndexFunc(o.apart, func(a apart) bool { return a.key == key && a.own == own })
	if i < 0 {
		i = len(o.apart)
		o.apart = append(o.apart, apart{key, map[string]*v1.Pod{}, own})
	}
	o.apart[i].in[value] = other
}

// repelled looks at required anti-affinity, of the pod and of others.
func (o *others) repelled(_ *v1.Pod, node *v1.Node) (reason, help string) {
	for _, a := range o.apart {
		value, ok := node.Labels[a.key]
		other := a.in[value]
		if !ok || other == nil {
			continue
		}
		reason = fmt.Sprintf("the anti-affinity of pod %s rejects it: that pod has the same %s", nameOf(other), a.key)
		if a.own {
			reason = fmt.Sprintf("the pod's anti-affinity rejects it: pod %s has the same %s", nameOf(other), a.key)
		}
		return reason, fmt.Sprintf("let the pattern match a node with another %s, or change that anti-affinity", a.key)
	}
	return "", ""
}

// ports looks for a port of the node that another pod has.
func (o *others) ports(pod *v1.Pod, node *v1.Node) (reason, help string) {
	for _, other := range o.onNode[node.Name] {
		taken := hostPorts(other)
		for _, port := range hostPorts(pod) {
			if slices.ContainsFunc(taken, func(t v1.ContainerPort) bool { return conflict(t, port) }) {
				return fmt.Sprintf("pod %s has the hostPort %d/%s already", nameOf(other), port.HostPort, port.Protocol),
					"let the pattern match a node where the port is free, or change the hostPort of one of the two"
			}
		}
	}
	return "", ""
}

func conflict(a, b v1.ContainerPort) bool {
	all := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	return a.HostPort > 0 && a.HostPort == b.HostPort && a.Protocol == b.Protocol && (a.HostIP == b.HostIP || all(a.HostIP) || all(b.HostIP))
}

// hostPorts are those of the containers that run as long as the pod does.
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

// room compares what a pod asks for with what the pods of a node leave. What is more
// than the whole node is for size to say.
func (o *others) room(pod *v1.Pod, node *v1.Node) (reason, help string) {
	free := node.Status.Allocatable.DeepCopy()
	for _, other := range o.onNode[node.Name] {
		for name, asked := range requests(other) {
			left := free[name]
			left.Sub(asked)
			free[name] = left
		}
	}
	asks := requests(pod)
	var short []string
	for _, name := range slices.Sorted(maps.Keys(asks)) {
		asked, left, all := asks[name], free[name], node.Status.Allocatable[name]
		if !asked.IsZero() && asked.Cmp(left) > 0 && asked.Cmp(all) <= 0 {
			short = append(short, fmt.Sprintf("%s of %s %s", &asked, &left, name))
		}
	}
	if short == nil {
		return "", ""
	}
	return "the pod asks for more than is free: " + strings.Join(short, ", "),
		"free resources there, let the pod ask for less, or let the pattern match a node with more room"
}

var onePod = *apiresource.NewQuantity(1, apiresource.DecimalSI)

// requests are what a pod takes of a node.
func requests(pod *v1.Pod) v1.ResourceList {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{UseStatusResources: true})
	requests[v1.ResourcePods] = onePod
	return requests
}

func nameOf(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }
