package page

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
)

// group is pods that wait for the same reason.
type group struct {
	// story is that of the first, without the numbers in which others differ. That of a
	// PodGroup has all that is said of its pods aside.
	story
	Pods []*v1.Pod // the newest first
	// Namespace is that of all of them, if they have the same; so are both patterns.
	Namespace      string
	Regex, Exclude *string
}

// groupsOf sorts pods by why they wait, in the order of the first of each group.
func groupsOf(waiting []*v1.Pod) []*group {
	var groups []*group
	exactly, alike := map[story]*group{}, map[story]*group{}
	for _, pod := range waiting {
		why := storyOf(pod)
		why.Aside = "" // what preemption says is no reason
		reason := why.Reason
		if minor.PodGroupOf(pod) != "" { // one line, whatever is said of each pod
			why.Tone, why.Reason = "waiting", ""
		}
		g := exactly[why]
		if g == nil {
			shape := why
			shape.Reason = shapeOf(why.Reason)
			if g = alike[shape]; g != nil {
				g.Reason = common(g.Reason, why.Reason)
			} else {
				g = &group{story: why, Namespace: pod.Namespace, Regex: regexOf(pod), Exclude: excludeOf(pod)}
				alike[shape] = g
				groups = append(groups, g)
			}
			exactly[why] = g
		}
		if g.add(pod); why.Reason != reason && !strings.Contains(g.Aside, reason) {
			g.Aside = strings.TrimPrefix(g.Aside+"; "+reason, "; ")
		}
	}
	return groups
}

func (g *group) add(pod *v1.Pod) {
	g.Pods = append(g.Pods, pod)
	if !ptr.Equal(g.Regex, regexOf(pod)) || !ptr.Equal(g.Exclude, excludeOf(pod)) {
		g.Regex, g.Exclude = nil, nil
	}
	if g.Namespace != pod.Namespace {
		g.Namespace = ""
	}
}

// URL is the list of the group's pods.
func (g *group) URL() string {
	filter := g.Reason
	if strings.Contains(filter, someNumber) {
		filter = shapeOf(filter)
	}
	return "/pods?" + url.Values{"filter": {cmp.Or(filter, g.Title)}}.Encode()
}

// someNumber stands for a number that is not the same for all.
const someNumber = "…"

var (
	numbers = regexp.MustCompile(`[0-9]+`)
	parts   = regexp.MustCompile(`[0-9]+|` + someNumber + `|[^0-9` + someNumber + `]+`)
)

// shapeOf is a reason without its numbers: how many nodes there were, and are short of
// what, changes from one pod to the next, and so do the numbers of claims.
func shapeOf(reason string) string {
	return numbers.ReplaceAllLiteralString(inOrder(reason), someNumber)
}

// common is what two reasons of the same shape have in common.
func common(a, b string) string {
	one, other := parts.FindAllString(inOrder(a), -1), parts.FindAllString(inOrder(b), -1)
	for i := range one {
		if one[i] != other[i] {
			one[i] = someNumber
		}
	}
	return strings.Join(one, "")
}

// counted begins each reason of several, with how many nodes it is that of.
var counted = regexp.MustCompile(`, ([0-9]+|` + someNumber + `) `)

// inOrder sorts what the scheduler says of several lots of nodes by what it says: it
// sorts that by how many they are.
func inOrder(reason string) string {
	head, list, _ := strings.Cut(reason, " nodes are available: ")
	list, end := strings.CutSuffix(list, ".")
	starts := counted.FindAllStringIndex(list, -1)
	if len(starts) == 0 {
		return reason
	}
	var reasons []string
	from := 0
	for _, start := range starts {
		reasons = append(reasons, list[from:start[0]])
		from = start[0] + len(", ")
	}
	reasons = append(reasons, list[from:])
	slices.SortStableFunc(reasons, func(a, b string) int { return cmp.Compare(said(a), said(b)) })
	list = strings.Join(reasons, ", ")
	if end {
		list += "."
	}
	return head + " nodes are available: " + list
}

// said is a reason without how many nodes it is that of, and without other numbers.
func said(reason string) string {
	_, text, _ := strings.Cut(reason, " ")
	return numbers.ReplaceAllLiteralString(text, someNumber)
}
