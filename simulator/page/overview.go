package page

import (
	"net/http"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

const (
	nodesPerPage   = 48
	waitingPerPage = 10
	podsPerPage    = 50
)

type toolbar struct {
	Path, Hint, Filter, Sort string
	Sorts                    [][2]string
}

var (
	nodeSorts = [][2]string{{"", "name"}, {"pods", "most pods"}, {"cpu", "CPU requested"}, {"memory", "memory requested"}, {"zone", "zone, instance type"}, {"newest", "newest"}}
	podSorts  = [][2]string{{"", "waiting first"}, {"newest", "newest"}, {"name", "name"}, {"node", "node"}}
)

func newToolbar(r *http.Request, hint string, sorts [][2]string) toolbar {
	q := r.URL.Query()
	return toolbar{r.URL.Path, hint, q.Get("filter"), q.Get("sort"), sorts}
}

func keep[T any](t toolbar, all []T, has func(T, string) bool) []T {
	text := strings.ToLower(strings.TrimSpace(t.Filter))
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return text != "" && !has(one, text) })
}

func (p *page) overview(w http.ResponseWriter, r *http.Request) error {
	c, tools := p.cluster.now(), newToolbar(r, "nodes, zones, pods, reasons", nodeSorts)
	nodes, waiting := keep(tools, c.nodes, (*nodeView).has), keep(tools, c.waiting, podHas)
	sortNodes(nodes, tools.Sort)
	return p.show(w, r, "overview", "Cluster", "cluster", map[string]any{
		"Tools": tools, "Filter": tools.Filter, "Self": r.URL.String(), "AllNodes": len(c.nodes), "AllPods": len(c.pods),
		"Nodes":   cut(nodes, r, "page", nodesPerPage),
		"Waiting": cut(groupsOf(waiting), r, "waiting", waitingPerPage), "AllWaiting": len(waiting),
	})
}

// has reports whether a node's name, zone, instance type, state or extended resources,
// or the name of one of its pods, contains the text, which is in lower case.
func (n *nodeView) has(text string) bool {
	own := append(n.Place(), n.Name, n.State())
	for _, resource := range n.Extended {
		own = append(own, resource.Name)
	}
	return slices.ContainsFunc(own, func(field string) bool { return strings.Contains(strings.ToLower(field), text) }) ||
		slices.ContainsFunc(n.Pods, func(pod *v1.Pod) bool { return strings.Contains(pod.Name, text) })
}

// podHas reports whether a pod's name, namespace, owner, regex, node, or story
// contains the text, which is in lower case.
func podHas(pod *v1.Pod, text string) bool {
	s, of := storyOf(pod), ptr.Deref(ownerOf(pod), owner{})
	if strings.Contains(text, someNumber) { // of the link to a group
		s.Reason = shapeOf(s.Reason)
	}
	return slices.ContainsFunc([]string{
		pod.Name, pod.Namespace, of.Kind + " " + of.Name, pod.Annotations[regex.Annotation], pod.Annotations[regex.ExcludeAnnotation],
		pod.Spec.NodeName, s.Title, s.Reason,
	}, func(field string) bool { return strings.Contains(strings.ToLower(field), text) })
}

func sortNodes(nodes []*nodeView, by string) {
	orders := map[string]func(a, b *nodeView) int{
		"pods":   func(a, b *nodeView) int { return len(b.Pods) - len(a.Pods) },
		"cpu":    func(a, b *nodeView) int { return int(b.CPU.Percent() - a.CPU.Percent()) },
		"memory": func(a, b *nodeView) int { return int(b.Memory.Percent() - a.Memory.Percent()) },
		"zone":   func(a, b *nodeView) int { return slices.Compare(a.Place(), b.Place()) },
		"newest": func(a, b *nodeView) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) },
	}
	if order := orders[by]; order != nil {
		slices.SortStableFunc(nodes, order)
	}
}

func (p *page) podList(w http.ResponseWriter, r *http.Request) error {
	c, tools := p.cluster.now(), newToolbar(r, "name, namespace, node, regex, reason", podSorts)
	pods := keep(tools, c.pods, podHas)
	switch tools.Sort {
	case "": // those that wait first, and then the newest
		slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return rank(a) - rank(b) })
	case "name":
		slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return natural(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	case "node":
		slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return natural(a.Spec.NodeName, b.Spec.NodeName) })
	}
	return p.show(w, r, "podlist", "Pods", "pods", map[string]any{
		"Tools": tools, "Filter": tools.Filter, "Self": r.URL.String(), "AllPods": len(c.pods),
		"Pods": cut(pods, r, "page", podsPerPage),
	})
}

func rank(pod *v1.Pod) int {
	if waits(pod) {
		return 0
	}
	return 1
}

func (p *page) summary(w http.ResponseWriter, r *http.Request) error {
	return fragment(w, r, "summary", p.summaryData())
}

func (p *page) summaryData() map[string]any {
	c := p.cluster.now()
	return map[string]any{
		"Nodes": len(c.nodes), "Running": c.running, "Waiting": len(c.waiting),
		"Scheduler": configTitle(p.sim.SchedulerConfig()), "Source": p.sim.Source(),
	}
}
