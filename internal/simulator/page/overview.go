package page

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
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
	Sorts                    []order  // of a list without heads of columns
	Namespace                string   // empty: all
	Namespaces               []string // empty where the list is not by namespace

	query url.Values
}

// order is a way to sort nodes.
type order struct {
	Key, Title string
	compare    func(a, b *nodeView) int
}

var orders = []order{
	{"", "name", func(_, _ *nodeView) int { return 0 }}, // as they are
	{"pods", "most pods", func(a, b *nodeView) int { return len(b.Pods) - len(a.Pods) }},
	{"cpu", "CPU requested", func(a, b *nodeView) int { return int(b.CPU.Percent() - a.CPU.Percent()) }},
	{"memory", "memory requested", func(a, b *nodeView) int { return int(b.Memory.Percent() - a.Memory.Percent()) }},
	{"zone", "zone, instance type", func(a, b *nodeView) int { return slices.Compare(a.Place(), b.Place()) }},
	{"newest", "newest", func(a, b *nodeView) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }},
}

func sortNodes(nodes []*nodeView, by string) {
	i := slices.IndexFunc(orders, func(one order) bool { return one.Key == by })
	if i >= 0 {
		slices.SortStableFunc(nodes, orders[i].compare)
	}
}

func newToolbar(r *http.Request, hint string, sorts []order, namespaces []string) toolbar {
	q := r.URL.Query()
	return toolbar{r.URL.Path, hint, q.Get("filter"), q.Get("sort"), sorts, q.Get("namespace"), namespaces, q}
}

// head is the head of a column, which sorts by it. A second click reverses the order, a third one restores
// the usual one.
type head struct {
	ID, Title, Order, URL string
	Main                  bool // whether the address bar follows
}

// Head is the head of the column with a key.
func (t toolbar) Head(title, key string) head {
	h, query := head{ID: "sort-" + key, Title: title, Main: t.Namespaces != nil}, maps.Clone(t.query)
	next := map[string]string{key: "-" + key, "-" + key: ""}
	by, sorted := next[t.Sort]
	if !sorted {
		by = key
	} else if by == "" {
		h.Order = "descending"
	} else {
		h.Order = "ascending"
	}
	query.Del("page")
	query.Set("sort", by)
	h.URL = t.Path + "?" + query.Encode()
	return h
}

// keep returns the items of the namespace with a field that contains the text of the filter or, if there is none, a
// field that it matches as a regex. Case does not count.
func keep[T interface {
	fields() []string
	GetNamespace() string
}](t toolbar, all []T) []T {
	text := strings.ToLower(strings.TrimSpace(t.Filter))
	with := func(matches func(field string) bool) []T {
		return slices.DeleteFunc(slices.Clone(all), func(one T) bool {
			return t.Namespace != "" && one.GetNamespace() != t.Namespace || text != "" && !slices.ContainsFunc(one.fields(), matches)
		})
	}
	kept := with(func(field string) bool { return strings.Contains(strings.ToLower(field), text) })
	pattern, err := regexp.Compile("(?i)" + strings.TrimSpace(t.Filter))
	if len(kept) > 0 || err != nil {
		return kept
	}
	return with(pattern.MatchString)
}

// namespaces are the names of all namespaces.
func (p *page) namespaces() (names []string) {
	all, _ := p.sim.Informers().Core().V1().Namespaces().Lister().List(labels.Everything()) // a cache has no errors
	for _, one := range all {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
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
	c, tools := p.cluster.now(), newToolbar(r, "text or regex: nodes, zones, pods, reasons", orders, nil)
	nodes, pending := keep(tools, c.nodes), keep(tools, c.pending)
	sortNodes(nodes, tools.Sort)
	return p.show(w, r, "overview", "Cluster", "cluster", map[string]any{
		"Tools": tools, "Self": r.URL.String(), "AllNodes": len(c.nodes), "AllPods": len(c.pending) + len(c.placed), "AllPending": len(pending), "Totals": c.totals(),
		"Nodes":   cut(nodes, r, "page", nodesPerPage),
		"Pending": cut(groupsOf(pending), r, "pending", pendingPerPage),
	})
}

func (p *page) podList(w http.ResponseWriter, r *http.Request) error {
	c, tools := p.cluster.now(), newToolbar(r, "text or regex: name, node, regex, reason", nil, p.namespaces())
	all := slices.Concat(c.pending, c.placed)
	pods := keep(tools, all)
	sortPods(pods, tools.Sort)
	return p.show(w, r, "podlist", "Pods", "pods", map[string]any{
		"Tools": tools, "Self": r.URL.String(), "AllPods": len(all), "Pods": cut(pods, r, "page", podsPerPage),
	})
}

// sortPods sorts by a column, backwards with a - before it.
func sortPods(pods []*podView, by string) {
	by, backwards := strings.CutPrefix(by, "-")
	texts := map[string]func(*podView) string{
		"name":      func(p *podView) string { return p.Name },
		"namespace": func(p *podView) string { return p.Namespace },
		"node":      func(p *podView) string { return p.Spec.NodeName },
		"regex":     func(p *podView) string { return ptr.Deref(p.Regex(), "") },
		"status":    func(p *podView) string { return p.State.Title + p.State.Reason },
		"created":   func(p *podView) string { return p.CreationTimestamp.UTC().Format(time.RFC3339) },
	}
	text, ok := texts[by]
	if !ok {
		return
	}
	slices.SortStableFunc(pods, func(a, b *podView) int {
		if backwards {
			a, b = b, a
		}
		return cmp.Or(natural(text(a), text(b)), natural(a.Name, b.Name))
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
