package page

import (
	"net/http"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

const (
	nodesPerPage   = 48
	waitingPerPage = 10
	podsPerCard    = 12
	podsPerPage    = 50
)

// tools are the filter and the order of a list.
type tools struct {
	Path, Hint, Filter, Sort string
	Sorts                    [][2]string
}

var (
	nodeSorts = [][2]string{{"", "name"}, {"pods", "most pods"}, {"cpu", "CPU requested"}, {"memory", "memory requested"}, {"newest", "newest"}}
	podSorts  = [][2]string{{"", "waiting first"}, {"newest", "newest"}, {"name", "name"}, {"node", "node"}}
)

// overview shows pods that wait, and nodes with their pods.
func (p *page) overview(w http.ResponseWriter, r *http.Request) {
	c, err := p.view.now()
	if err != nil {
		p.fail(w, r, err)
		return
	}
	q := r.URL.Query()
	filter := strings.ToLower(strings.TrimSpace(q.Get("filter")))
	nodes := slices.Clone(c.nodes)
	waiting := c.waiting
	if filter != "" {
		nodes = keep(nodes, func(n *nodeView) bool { return n.has(filter) })
		waiting = keep(slices.Clone(waiting), func(pod *v1.Pod) bool { return podHas(pod, filter) })
	}
	sortNodes(nodes, q.Get("sort"))
	groups := groupsOf(waiting)
	p.show(w, r, "overview", "Cluster", "cluster", map[string]any{
		"Tools":  tools{"/", "nodes, pods, reasons", q.Get("filter"), q.Get("sort"), nodeSorts},
		"Filter": q.Get("filter"), "Self": r.URL.String(),
		"AllNodes": len(c.nodes), "AllPods": len(c.pods),
		"Nodes":   cut(nodes, r, "page", nodesPerPage),
		"Waiting": cut(groups, r, "waiting", waitingPerPage), "AllWaiting": len(waiting),
	})
}

// has reports whether the node, or a pod on it, is called so.
func (n *nodeView) has(filter string) bool {
	return strings.Contains(n.Name, filter) ||
		slices.ContainsFunc(n.Pods, func(pod *v1.Pod) bool { return strings.Contains(pod.Name, filter) })
}

// podHas reports whether a pod's name, namespace, owner, regex, node, or story
// contains the text, which is in lower case.
func podHas(pod *v1.Pod, text string) bool {
	s := tell(pod)
	if of := ownerOf(pod); of != nil && strings.Contains(strings.ToLower(of.Kind+" "+of.Name), text) {
		return true
	}
	for _, field := range []string{pod.Name, pod.Namespace, pod.Annotations[regex.Annotation], pod.Annotations[regex.ExcludeAnnotation], pod.Spec.NodeName, s.Title, s.Reason} {
		if strings.Contains(strings.ToLower(field), text) {
			return true
		}
	}
	return false
}

func keep[T any](all []T, wanted func(T) bool) []T {
	return slices.DeleteFunc(all, func(t T) bool { return !wanted(t) })
}

func sortNodes(nodes []*nodeView, by string) {
	switch by {
	case "pods":
		slices.SortStableFunc(nodes, func(a, b *nodeView) int { return len(b.Pods) - len(a.Pods) })
	case "cpu":
		slices.SortStableFunc(nodes, func(a, b *nodeView) int { return int(b.CPU.Percent() - a.CPU.Percent()) })
	case "memory":
		slices.SortStableFunc(nodes, func(a, b *nodeView) int { return int(b.Memory.Percent() - a.Memory.Percent()) })
	case "newest":
		slices.SortStableFunc(nodes, func(a, b *nodeView) int {
			return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
		})
	}
}

// Some are as many of the pods as a card has room for.
func (n *nodeView) Some() []*v1.Pod { return n.Pods[:min(len(n.Pods), podsPerCard)] }

// More is how many pods a card leaves out.
func (n *nodeView) More() int { return max(0, len(n.Pods)-podsPerCard) }

// Ready says whether the node takes pods.
func (n *nodeView) Ready() bool { ok, _ := ready(n.Node); return ok }

// State is ready, or what keeps pods from the node.
func (n *nodeView) State() string { _, word := ready(n.Node); return word }

// podList shows all pods.
func (p *page) podList(w http.ResponseWriter, r *http.Request) {
	c, err := p.view.now()
	if err != nil {
		p.fail(w, r, err)
		return
	}
	q := r.URL.Query()
	pods := slices.Clone(c.pods)
	if filter := strings.ToLower(strings.TrimSpace(q.Get("filter"))); filter != "" {
		pods = keep(pods, func(pod *v1.Pod) bool { return podHas(pod, filter) })
	}
	sortPods(pods, q.Get("sort"))
	p.show(w, r, "podlist", "Pods", "pods", map[string]any{
		"Tools":  tools{"/pods", "name, namespace, node, regex, reason", q.Get("filter"), q.Get("sort"), podSorts},
		"Filter": q.Get("filter"), "Self": r.URL.String(),
		"AllPods": len(c.pods),
		"Pods":    cut(pods, r, "page", podsPerPage),
	})
}

func sortPods(pods []*v1.Pod, by string) {
	switch by {
	case "": // those that wait first, and then the newest
		slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return rank(a) - rank(b) })
	case "name":
		slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return natural(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	case "node":
		slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return natural(a.Spec.NodeName, b.Spec.NodeName) })
	}
}

func rank(pod *v1.Pod) int {
	if waits(pod) {
		return 0
	}
	return 1
}

// summary is the line at the top of every page.
func (p *page) summary(w http.ResponseWriter, r *http.Request) {
	data, err := p.summaryOf()
	if err != nil {
		p.fail(w, r, err)
		return
	}
	body, err := execute("summary", data)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	write(w, r, body)
}

func (p *page) summaryOf() (map[string]any, error) {
	c, err := p.view.now()
	if err != nil {
		return nil, err
	}
	namespaces, err := p.sim.Informers().Core().V1().Namespaces().Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"Nodes": len(c.nodes), "Pods": len(c.pods), "Running": c.running, "Waiting": len(c.waiting),
		"Namespaces": len(namespaces), "Scheduler": configTitle(p.sim.SchedulerConfig()),
		"Source": p.sim.Source(),
	}, nil
}
