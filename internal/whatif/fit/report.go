package fit

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/template"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/words"
)

// Fitting is the result for manifests in a copy of a cluster.
type Fitting struct {
	Tried     int            `json:"tried"`     // pods of the manifests
	Pending   int            `json:"pending"`   // pods without a node, of these and of those that were preempted
	Workloads []*Workload    `json:"workloads"` // what makes pods
	Zones     []string       `json:"zones,omitempty"`
	Preempted []engine.Move  `json:"preempted,omitempty"`
	Skipped   map[string]int `json:"skipped,omitempty"`   // of the manifests, by kind
	UntilFull bool           `json:"untilFull,omitempty"` // replicas were added, and Pods are those that fit
	Growth    *Growth        `json:"growth,omitempty"`    // nil if no nodes were to be added
	Took      time.Duration  `json:"tookNanoseconds"`     // of all runs
	Basis     words.Basis    `json:"basis"`
}

// count distinguishes runs.
func (f *Fitting) count() int {
	switch {
	case f.UntilFull:
		return f.Tried - f.Pending
	case f.Growth != nil && f.Pending == 0:
		return f.Growth.Nodes
	}
	return f.Pending
}

// counts is what count is of.
func (f *Fitting) counts() string {
	switch {
	case f.UntilFull:
		return "further replicas"
	case f.Growth != nil && f.Pending == 0:
		return "further nodes"
	}
	return "pods that would stay pending"
}

// worse is true if another run came to less.
func (f *Fitting) worse(than *Fitting) bool {
	if f.UntilFull {
		return f.count() < than.count()
	}
	if f.Pending == than.Pending {
		return f.count() > than.count()
	}
	return f.Pending > than.Pending
}

// Workload is what makes pods, or a pod, and their result.
type Workload struct {
	Kind      string         `json:"kind"`
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	Replaced  int            `json:"replaced,omitempty"` // its pods in the cluster, which went before
	Fit       int            `json:"fit"`                // how many of its pods have a node
	Spread    []int          `json:"spread,omitempty"`   // how many of these are in each of the Zones
	Why       map[string]int `json:"why,omitempty"`      // how many wait, by the scheduler's message
	// Pods are their names with their nodes, which are empty where they wait.
	Pods map[string]string `json:"pods"`
	// Feasible is how many nodes the scheduler could choose from, by the pod's name. Where it is 1,
	// there was no choice; a pod that another had to make room for is not in it.
	Feasible map[string]int `json:"feasible,omitempty"`
	Short    []string       `json:"short,omitempty"`   // until it is full: of which resources too little is left then
	Message  string         `json:"message,omitempty"` // why no more fit; empty if no more were tried

	object   snapshot.Object
	template *v1.PodTemplateSpec
	owner    metav1.OwnerReference // of its pods
	replicas int
	next     int // the number of the next pod
	pods     []types.NamespacedName
	nodes    []*v1.Node // those of a DaemonSet
}

// Places are how many of its pods are in which zone, such as "2 in a", and how many are in none if
// others are in some.
func (w *Workload) Places(zones []string) (places []string) {
	rest := w.Fit
	for i, zone := range zones {
		if n := w.Spread[i]; n > 0 {
			places = append(places, fmt.Sprintf("%d in %s", n, zone))
			rest -= n
		}
	}
	if len(places) > 0 && rest > 0 {
		places = append(places, fmt.Sprintf("%d in no zone", rest))
	}
	return places
}

func (w *Workload) String() string { return w.Kind + " " + w.Namespace + "/" + w.Name }

// tell takes note of where pods are.
func (f *fitting) tell() {
	zones := map[string]string{}
	for _, node := range f.nodes() {
		if zone := node.Labels[v1.LabelTopologyZone]; zone != "" {
			zones[node.Name] = zone
		}
	}
	f.Zones, f.Tried, f.Pending = slices.Compact(slices.Sorted(maps.Values(zones))), 0, 0
	for _, w := range f.workloads {
		w.Fit, w.Spread, w.Why, w.Feasible = 0, make([]int, len(f.Zones)), map[string]int{}, map[string]int{}
		for _, name := range w.pods {
			o := f.Outcome(name)
			if w.Pods[name.Name] = o.Node; o.Feasible > 0 && o.Node != "" {
				w.Feasible[name.Name] = o.Feasible
			}
			if at := slices.Index(f.Zones, zones[o.Node]); at >= 0 {
				w.Spread[at]++
			}
			if o.Node == "" {
				w.Why[o.Reason()]++
				f.Pending++
			} else {
				w.Fit++
			}
		}
		f.Tried += len(w.pods)
	}
	f.Preempted = nil
	for name, by := range f.preempted {
		move := f.Move(f.residents[name], by)
		if move.To == "" {
			f.Pending++
		}
		f.Preempted = append(f.Preempted, move)
	}
	slices.SortFunc(f.Preempted, func(a, b engine.Move) int {
		return cmp.Or(cmp.Compare(min(1, len(a.To)), min(1, len(b.To))), cmp.Compare(a.Pod, b.Pod))
	})
}

// Formats write it, with each pod's node if one asks for that.
var Formats = map[string]func(w io.Writer, f *Fitting, nodes bool) error{
	"table": written("fit.txt"), "markdown": written("fit.md"),
	"json": func(w io.Writer, f *Fitting, _ bool) error { return words.JSON(w, f) },
}

//go:embed fit.txt fit.md
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"join": strings.Join, "counted": words.Counted, "place": engine.Place, "brief": words.Brief, "plural": words.Plural,
	"slashes": func(numbers []int) string {
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", "/")
	},
	"cell": func(text string) string { return strings.ReplaceAll(text, "|", `\|`) },
}).ParseFS(files, "*"))

func written(name string) func(io.Writer, *Fitting, bool) error {
	return func(w io.Writer, f *Fitting, nodes bool) error {
		return templates.ExecuteTemplate(w, name, map[string]any{"F": f, "Nodes": nodes})
	}
}

// Fits reports whether no pod would stay pending or, until it is full, whether a replica of each workload fits.
func (f *Fitting) Fits() bool {
	return f.Pending == 0 || f.UntilFull && !slices.ContainsFunc(f.Workloads, func(w *Workload) bool { return w.Fit == 0 })
}

// Verdict is the result in a line.
func (f *Fitting) Verdict() string {
	var line strings.Builder
	_ = templates.ExecuteTemplate(&line, "verdict", f) // which writes to memory
	return line.String()
}
