package page

import (
	"net/url"

	"k8s.io/utils/ptr"
)

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
