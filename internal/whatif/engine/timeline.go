package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// Event is something that happened to pods of a workload, or to a node, at a time of the engine's clock. Pods are ready as
// soon as they have their nodes and volumes: the time is of tolerations, of controllers, of minReadySeconds, and of new nodes.
type Event struct {
	Seconds int    `json:"seconds"` // since the recording began
	About   string `json:"about"`   // such as "Deployment default/web", or "node a"
	What    string `json:"what"`    // such as "created"
	Pods    int    `json:"pods,omitempty"`
	Nodes   int    `json:"nodes,omitempty"` // of which About is the first
}

// Wait is how long pods of a workload that were created meanwhile were not running.
type Wait struct {
	About  string `json:"about"`
	Pods   int    `json:"pods"`
	From   int    `json:"from"` // seconds
	To     int    `json:"to"`
	Still  bool   `json:"still,omitempty"` // also at the end, which is To
	Reason string `json:"reason"`
}

// Timeline are events in their order, of which equal ones at a time are one, and the waits.
type Timeline struct {
	Events []Event `json:"events"`
	Waits  []Wait  `json:"waits,omitempty"`

	engine *Engine
	began  time.Time
	ended  bool
	since  map[types.UID]int // pods that are not running
}

// Record begins a recording, which End ends.
func (e *Engine) Record() (*Timeline, error) {
	t := &Timeline{Events: []Event{}, engine: e, began: e.clock.FakeClock.Now(), since: map[types.UID]int{}}
	_, err := e.Cluster.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, there bool) {
			if !there && !t.ended {
				t.since[o.(*v1.Pod).UID] = t.now()
				t.pod(o.(*v1.Pod), "created")
			}
		},
		UpdateFunc: func(old, now any) { t.update(old.(*v1.Pod), now.(*v1.Pod)) },
		DeleteFunc: func(o any) {
			pod := o.(*v1.Pod)
			if pod.DeletionTimestamp == nil {
				t.deleted(pod)
			}
		},
	})
	return t, err
}

func (t *Timeline) update(old, now *v1.Pod) {
	if old.DeletionTimestamp == nil && now.DeletionTimestamp != nil {
		t.deleted(now)
		return
	}
	if old.Spec.NodeName == "" && now.Spec.NodeName != "" {
		t.pod(now, "scheduled")
	}
	if podutil.IsPodReady(now) {
		t.wait(now, false)
	}
}

func (t *Timeline) deleted(pod *v1.Pod) {
	t.pod(pod, "deleted")
	t.wait(pod, false)
}

// wait takes note of how long a pod has waited, if it has, and waits no more or still.
func (t *Timeline) wait(pod *v1.Pod, still bool) {
	from, ok := t.since[pod.UID]
	delete(t.since, pod.UID)
	if !ok || t.ended || from == t.now() && !still {
		return
	}
	w := Wait{About: t.about(pod), Pods: 1, From: from, To: t.now(), Still: still, Reason: t.engine.whyNotRunning(pod)}
	at := slices.IndexFunc(t.Waits, func(other Wait) bool {
		other.Pods = 1
		return other == w
	})
	if at >= 0 {
		t.Waits[at].Pods++
		return
	}
	t.Waits = append(t.Waits, w)
}

// whyNotRunning is why a pod was not until now.
func (e *Engine) whyNotRunning(pod *v1.Pod) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	held := e.Cluster.Attached(pod)
	if held != "" {
		return held
	}
	o := e.outcomes[cluster.NameOf(pod)]
	if o == nil {
		return ""
	}
	return strings.Join(strings.Fields(o.Message), " ")
}

// End ends a recording.
func (t *Timeline) End() {
	for _, pod := range cluster.All[*v1.Pod](t.engine.Cluster) {
		if !podutil.IsPodTerminal(pod) {
			t.wait(pod, true)
		}
	}
	t.ended = true
}

func (t *Timeline) now() int { return int(t.engine.clock.FakeClock.Since(t.began) / time.Second) }

func (t *Timeline) about(pod *v1.Pod) string {
	return cmp.Or(t.engine.workload(pod), "Pod "+cluster.NameOf(pod).String())
}

func (t *Timeline) pod(pod *v1.Pod, what string) {
	t.add(Event{About: t.about(pod), What: what, Pods: 1})
}

// Node takes note of what is done to a node.
func (t *Timeline) Node(name, what string) { t.add(Event{About: "node " + name, What: what, Nodes: 1}) }

func (t *Timeline) add(e Event) {
	if t.ended {
		return
	}
	e.Seconds = t.now()
	for i, last := range slices.Backward(t.Events) {
		if last.Seconds != e.Seconds || (last.Pods == 0) != (e.Pods == 0) {
			break
		}
		if last.What == e.What && (last.About == e.About || e.Nodes > 0) {
			t.Events[i].Pods += e.Pods
			t.Events[i].Nodes += e.Nodes
			return
		}
	}
	t.Events = append(t.Events, e)
}

// Longest is how many pods waited, but for the ones that still do, and the longest of these waits.
func (t *Timeline) Longest() (pods int, longest string) {
	seconds := 0
	for _, w := range t.Waits {
		if !w.Still {
			pods += w.Pods
			seconds = max(seconds, w.To-w.From)
		}
	}
	return pods, lasting(seconds)
}

// Sections are the time line as a picture and a table, and the waits. A nil time line has none.
func (t *Timeline) Sections() []report.Section {
	if t == nil {
		return nil
	}
	var rows [][]string
	for _, e := range t.Events {
		at, about, what := "+"+lasting(e.Seconds), e.About, e.What
		if e.Nodes > 1 {
			about += fmt.Sprintf(" and %d more", e.Nodes-1)
		}
		if e.Pods > 0 {
			what = report.Plural(e.Pods, "pod") + " " + e.What
		}
		same := len(rows) - 1
		for same >= 0 && e.Pods > 0 && rows[same][0] == at && rows[same][1] != about {
			same--
		}
		if same >= 0 && e.Pods > 0 && rows[same][0] == at {
			rows[same][2] += fmt.Sprintf(", %d %s", e.Pods, e.What)
			continue
		}
		rows = append(rows, []string{at, about, what})
	}
	events := report.Table("Time line", []string{"TIME", "ABOUT", "WHAT"}, rows)
	events.Lanes, events.Ends = t.lanes()
	rows = nil
	for _, w := range t.Waits {
		to := "+" + lasting(w.To)
		if w.Still {
			to = "-"
		}
		rows = append(rows, []string{w.About, fmt.Sprint(w.Pods), "+" + lasting(w.From), to, w.Reason})
	}
	return []report.Section{events, report.Table("Not running in between", []string{"WORKLOAD", "PODS", "FROM", "TO", "REASON"}, rows)}
}

// lanes are a picture of the time line: a lane for the nodes, and one for each workload.
func (t *Timeline) lanes() (lanes []report.Lane, ends string) {
	end := 0
	for _, e := range t.Events {
		end = max(end, e.Seconds)
	}
	for _, w := range t.Waits {
		end = max(end, w.To)
	}
	if end == 0 {
		return nil, ""
	}
	mark := func(about, kind, text string, from, to int) {
		at := slices.IndexFunc(lanes, func(l report.Lane) bool { return l.Name == about })
		if at < 0 {
			at = len(lanes)
			lanes = append(lanes, report.Lane{Name: about})
		}
		lanes[at].Marks = append(lanes[at].Marks, report.Mark{
			Kind: kind, From: float64(from) / float64(end), To: float64(to) / float64(end), Text: fmt.Sprintf("+%s: %s", lasting(from), text),
		})
	}
	for _, w := range t.Waits {
		mark(w.About, "waits", report.Plural(w.Pods, "pod")+" not running for "+lasting(w.To-w.From), w.From, w.To)
	}
	for _, e := range t.Events {
		switch {
		case e.Nodes > 0:
			mark("nodes", "node", e.About+" "+e.What, e.Seconds, e.Seconds)
		case e.What == "deleted":
			mark(e.About, "went", report.Plural(e.Pods, "pod")+" deleted", e.Seconds, e.Seconds)
		default:
			mark(e.About, "came", report.Plural(e.Pods, "pod")+" "+e.What, e.Seconds, e.Seconds)
		}
	}
	slices.SortFunc(lanes, func(a, b report.Lane) int { return cmp.Compare(b.Name, a.Name) }) // the nodes first
	return lanes[:min(len(lanes), report.ShownRows)], "+" + lasting(end)
}

// lasting is a time of a time line, such as "5m01s".
func lasting(seconds int) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%dm%02ds", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%dh%02dm", seconds/3600, seconds%3600/60)
}
