package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

// Line is one of the summary. It says something, or it has a value for the cluster as it is in
// the file, and for either side.
type Line struct {
	About string `json:"about"`
	Says  string `json:"says,omitempty"`
	Today string `json:"today,omitempty"`
	A     string `json:"a,omitempty"`
	B     string `json:"b,omitempty"`
}

// Terms says what the words of the summary mean.
const Terms = "A moved pod has another node under B than under A. A node is used if a pod is on it that is neither a DaemonSet's nor static. " +
	"Imbalance is the standard deviation of what is requested of nodes, in percent of what each has. " +
	"Both sides choose by the same seed what kube-scheduler leaves to chance: a pod that chance alone moves is a tie, and no difference."

func (r *Result) summary() []Line {
	each := func(about string, value func(*Load) string) Line {
		return Line{About: about, Today: value(&r.Load.Before), A: value(&r.Load.A), B: value(&r.Load.B)}
	}
	lines := []Line{
		{About: "pods that lose their node", Says: r.lost()},
		{About: "direct differences", Says: r.caused(false)},
		{About: "knock-on effects", Says: r.caused(true)},
		each("nodes used, empty", func(l *Load) string { return fmt.Sprintf("%d, %d", l.Used, l.Empty) }),
	}
	for _, resource := range r.Load.Resources() {
		lines = append(lines, each("imbalance, "+string(resource), func(l *Load) string {
			return fmt.Sprintf("%.1f %%", l.Imbalance[resource])
		}))
	}
	return lines
}

func (r *Result) lost() string {
	var names []string
	for _, d := range r.Differences {
		if d.Kind == OnlyA {
			names = append(names, d.key())
		}
	}
	return howMany(names)
}

func howMany(names []string) string {
	return strings.TrimSuffix(fmt.Sprintf("%d: %s", len(names), report.Few(names)), ": ")
}

// caused is how many differences have which cause: what differs between the configurations,
// or else what has decided.
func (r *Result) caused(follows bool) string {
	all, counts := 0, map[string]int{}
	for _, d := range r.Differences {
		by := cmp.Or(d.By, d.Plugin, string(d.Cause))
		if d.Setting != "" {
			by += " (" + d.Setting + ")"
		}
		if d.Follows == follows {
			all, counts[by] = all+1, counts[by]+1
		}
	}
	causes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	for i, by := range causes {
		causes[i] = fmt.Sprintf("%d by %s", counts[by], by)
	}
	return strings.TrimSuffix(fmt.Sprintf("%d: %s", all, report.Few(causes)), ": ")
}
