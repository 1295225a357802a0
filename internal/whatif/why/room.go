package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	quota "k8s.io/apiserver/pkg/quota/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// shortage is what nodes lack for a pod.
type shortage struct {
	nodes   []string // each of them lacks the same
	missing v1.ResourceList
	amounts string  // missing
	enough  string  // what the pod could request instead
	share   float64 // of what the pod requests
	free    bool    // the nodes' pods have as much
	none    bool    // with so much less, the pod would no more request a resource that it needs: its node must have it
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
	var shortages []*shortage
	same := map[string]*shortage{}
	for _, name := range slices.Sorted(slices.Values(nodes)) {
		node := cluster.Get[*v1.Node](c, "", name)
		if node == nil {
			continue
		}
		one := lacks(requests, used[name], node)
		key := fmt.Sprint(one.amounts, one.free)
		switch {
		case len(one.missing) == 0: // it has as many pods as it may
		case one.none && !one.free:
		case !one.none && same[key] != nil:
			same[key].nodes = append(same[key].nodes, name)
		default:
			same[key] = one
			shortages = append(shortages, one)
		}
	}
	slices.SortStableFunc(shortages, func(a, b *shortage) int { return cmp.Compare(a.share, b.share) })
	for i, one := range shortages {
		all = append(all, one.candidate(requests, i == 0))
	}
	return all
}

// lacks is what a node lacks for requests.
func lacks(requests, used v1.ResourceList, node *v1.Node) *shortage {
	one := &shortage{nodes: []string{node.Name}, missing: v1.ResourceList{}, free: true}
	var amounts, enough []string
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		quantity, uses := requests[name], used[name]
		missing := quantity.DeepCopy()
		missing.Sub(node.Status.Allocatable[name])
		missing.Add(uses)
		if missing.Sign() <= 0 || quantity.IsZero() {
			continue
		}
		one.missing[name] = missing
		one.share += missing.AsApproximateFloat64() / quantity.AsApproximateFloat64()
		one.free = one.free && missing.Cmp(uses) <= 0
		optional := name == v1.ResourceCPU || name == v1.ResourceMemory || name == v1.ResourceEphemeralStorage
		one.none = one.none || !optional && missing.Cmp(quantity) >= 0
		left := quantity.DeepCopy()
		left.Sub(missing)
		amounts = append(amounts, fmt.Sprintf("%s of %s", missing.String(), name))
		enough = append(enough, fmt.Sprintf("%s of %s instead of %s", left.String(), name, quantity.String()))
	}
	one.amounts, one.enough = strings.Join(amounts, " and "), strings.Join(enough, " and ")
	return one
}

// candidate is to request as much less.
func (s *shortage) candidate(requests v1.ResourceList, cause bool) candidate {
	on := func(node string) string {
		switch {
		case s.none:
			return fmt.Sprintf("free %s on %s", s.amounts, node)
		case s.free:
			return fmt.Sprintf("free %s on %s, or request %s", s.amounts, node, s.enough)
		}
		return fmt.Sprintf("request %s, as much as %s has left, or add a larger node", s.enough, node)
	}
	says := on(s.nodes[0])
	if len(s.nodes) > 1 {
		says = on("any of " + report.Few(s.nodes))
	}
	return candidate{
		says: says, cause: cause,
		applies: func(pod *v1.Pod) bool { // it names amounts
			others := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
			return quota.Equals(quota.Mask(others, quota.ResourceNames(s.missing)), quota.Mask(requests, quota.ResourceNames(s.missing)))
		},
		then: func(node string) string {
			if !slices.Contains(s.nodes, node) {
				return "request " + s.enough
			}
			return on(node)
		},
		apply: func(pod *v1.Pod) {
			for name, missing := range s.missing {
				left := requests[name].DeepCopy()
				left.Sub(missing)
				request(&pod.Spec, name, left)
			}
			if s.none {
				pod.Spec.NodeName = s.nodes[0] // another one may lack the resource
			}
		},
	}
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
