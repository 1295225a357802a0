package page

import (
	"cmp"
	"net/url"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// podsPerGroup is how many of its pods a group names.
const podsPerGroup = 6

// group is pods that wait for the same reason.
type group struct {
	story
	Pods []*v1.Pod // the newest first
	// Namespace and Regex are those that all of them have, if they have the same.
	Namespace string
	Regex     *string
}

// groupsOf sorts pods by why they wait, in the order of the first of each group.
func groupsOf(waiting []*v1.Pod) []*group {
	var groups []*group
	by := map[story]*group{}
	for _, pod := range waiting {
		why, regex := tell(pod), regexOf(pod)
		why.Aside = "" // what preemption says is no reason
		g := by[why]
		if g == nil {
			g = &group{story: why, Namespace: pod.Namespace, Regex: regex}
			by[why] = g
			groups = append(groups, g)
		}
		g.Pods = append(g.Pods, pod)
		if !ptr.Equal(g.Regex, regex) {
			g.Regex = nil
		}
		if g.Namespace != pod.Namespace {
			g.Namespace = ""
		}
	}
	return groups
}

// Some are as many of the pods as there is room for.
func (g *group) Some() []*v1.Pod { return g.Pods[:min(len(g.Pods), podsPerGroup)] }

// More is how many of them that leaves out.
func (g *group) More() int { return len(g.Pods) - len(g.Some()) }

// Several is true of more than a single pod.
func (g *group) Several() bool { return len(g.Pods) > 1 }

// URL is the list of all of them.
func (g *group) URL() string {
	return "/pods?" + url.Values{"filter": {cmp.Or(g.Reason, g.Title)}}.Encode()
}
