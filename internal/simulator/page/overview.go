package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/utils/ptr"
)

const (
	nodesPerPage   = 48
	pendingPerPage = 10
	podsPerPage    = 50
)

// toolbar filters and sorts a list.
type toolbar struct {
	Path, Hint, Filter, Sort string
	Sorts                    [][2]string
}

var (
	nodeSorts = [][2]string{
		{"", "name"},
		{"pods", "most pods"},
		{"cpu", "CPU requested"},
		{"memory", "memory requested"},
		{"zone", "zone, instance type"},
		{"newest", "newest"},
	}
	podSorts = [][2]string{{"", "pending first"}, {"newest", "newest"}, {"name", "name"}, {"node", "node"}}
)

func newToolbar(r *http.Request, hint string, sorts [][2]string) toolbar {
	q := r.URL.Query()
	return toolbar{r.URL.Path, hint, q.Get("filter"), q.Get("sort"), sorts}
}

// keep returns the items with a field that contains the text of the filter.
func keep[T interface{ fields() []string }](t toolbar, all []T) []T {
	text := strings.ToLower(strings.TrimSpace(t.Filter))
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool {
		return text != "" && !slices.ContainsFunc(one.fields(), func(field string) bool {
			return strings.Contains(strings.ToLower(field), text)
		})
	})
}

func (n *nodeView) fields() []string {
	all := append(n.Place(), n.Name, n.State())
	for _, resource := range n.Extended {
		all = append(all, resource.Name)
	}
	for _, pod := range n.Pods {
		all = append(all, pod.Name)
	}
	return all
}

func (p *podView) fields() []string {
	of := ptr.Deref(p.Owner(), owner{})
	return []string{
		p.Name, p.Namespace, of.Kind + " " + of.Name, ptr.Deref(p.Regex(), ""), ptr.Deref(p.Exclude(), ""),
		p.Spec.NodeName, p.State.Title, p.State.Reason, p.State.text(),
	}
}

func (p *page) overview(w http.ResponseWriter, r *http.Request) error {
	c, tools := p.cluster.now(), newToolbar(r, "nodes, zones, pods, reasons", nodeSorts)
	nodes, pending := keep(tools, c.nodes), keep(tools, c.pending)
	sortNodes(nodes, tools.Sort)
	return p.show(w, r, "overview", "Cluster", "cluster", map[string]any{
		"Tools": tools, "Self": r.URL.String(), "AllNodes": len(c.nodes), "AllPods": len(c.pods), "AllPending": len(pending),
		"Nodes":   cut(nodes, r, "page", nodesPerPage),
		"Pending": cut(groupsOf(pending), r, "pending", pendingPerPage),
	})
}

func sortNodes(nodes []*nodeView, by string) {
	orders := map[string]func(a, b *nodeView) int{
		"pods":   func(a, b *nodeView) int { return len(b.Pods) - len(a.Pods) },
		"cpu":    func(a, b *nodeView) int { return int(b.CPU.Percent() - a.CPU.Percent()) },
		"memory": func(a, b *nodeView) int { return int(b.Memory.Percent() - a.Memory.Percent()) },
		"zone":   func(a, b *nodeView) int { return slices.Compare(a.Place(), b.Place()) },
		"newest": func(a, b *nodeView) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) },
	}
	order := orders[by]
	if order != nil {
		slices.SortStableFunc(nodes, order)
	}
}

func (p *page) podList(w http.ResponseWriter, r *http.Request) error {
	c, tools := p.cluster.now(), newToolbar(r, "name, namespace, node, regex, reason", podSorts)
	pods := keep(tools, c.pods)
	switch tools.Sort {
	case "": // the pending ones first, and then the newest
		pods = slices.Concat(keep(tools, c.pending), slices.DeleteFunc(pods, func(pod *podView) bool { return isPending(pod.Pod) }))
	case "name":
		slices.SortStableFunc(pods, func(a, b *podView) int { return natural(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	case "node":
		slices.SortStableFunc(pods, func(a, b *podView) int { return natural(a.Spec.NodeName, b.Spec.NodeName) })
	}
	return p.show(w, r, "podlist", "Pods", "pods", map[string]any{
		"Tools": tools, "Self": r.URL.String(), "AllPods": len(c.pods), "Pods": cut(pods, r, "page", podsPerPage),
	})
}

func (p *page) summary(w http.ResponseWriter, r *http.Request) error {
	return fragment(w, r, "summary", p.summaryData())
}

func (p *page) summaryData() map[string]any {
	c := p.cluster.now()
	return map[string]any{
		"Nodes": len(c.nodes), "Running": c.running, "Pending": len(c.pending),
		"Scheduler": configTitle(p.sim.SchedulerConfig()), "Source": p.sim.Source(),
	}
}

// group is the pods that are pending for the same cause.
type group struct {
	podState // of the first
	Pods     []*podView
	Differ   bool // whether the reasons do, in more than their cause
	// Namespace is set if all pods have the same one; so are both patterns.
	Namespace      string
	Regex, Exclude *string
}

// groupsOf groups pods by cause, in the order of the first of each group.
func groupsOf(pending []*podView) []*group {
	var groups []*group
	byText := map[string]*group{}
	for _, pod := range pending {
		g := byText[pod.State.text()]
		if g == nil {
			g = &group{podState: pod.State, Namespace: pod.Namespace, Regex: pod.Regex(), Exclude: pod.Exclude()}
			byText[pod.State.text()] = g
			groups = append(groups, g)
		}
		g.add(pod)
	}
	return groups
}

func (g *group) add(pod *podView) {
	g.Pods = append(g.Pods, pod)
	g.Differ = g.Differ || g.Reason != pod.State.Reason
	if !ptr.Equal(g.Regex, pod.Regex()) || !ptr.Equal(g.Exclude, pod.Exclude()) {
		g.Regex, g.Exclude = nil, nil
	}
	if g.Namespace != pod.Namespace {
		g.Namespace = ""
	}
}

// URL is the address of the list of the group's pods.
func (g *group) URL() string { return "/pods?" + url.Values{"filter": {g.text()}}.Encode() }
