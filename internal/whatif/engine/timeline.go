package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
)

// Event is something that happened to pods of a workload, or to a node, at a time of the engine's clock. Pods are ready as
// soon as they have their nodes: the time is of tolerations, of controllers, and of minReadySeconds.
type Event struct {
	Seconds int    `json:"seconds"` // since the recording began
	About   string `json:"about"`   // such as "Deployment default/web", or "node a"
	What    string `json:"what"`    // such as "created"
	Pods    int    `json:"pods,omitempty"`
	Nodes   int    `json:"nodes,omitempty"` // of which About is the first
}

// Timeline are events in their order. Equal ones at a time are one.
type Timeline struct {
	Events []Event

	engine *Engine
	began  time.Time
}

// Record begins a recording, which Close of the engine ends.
func (e *Engine) Record() (*Timeline, error) {
	t := &Timeline{engine: e, began: e.clock.FakeClock.Now()}
	_, err := e.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, there bool) {
			if !there {
				t.pod(o.(*v1.Pod), "created")
			}
		},
		UpdateFunc: func(old, now any) { t.update(old.(*v1.Pod), now.(*v1.Pod)) },
		DeleteFunc: func(o any) {
			pod := o.(*v1.Pod)
			if pod.DeletionTimestamp == nil {
				t.pod(pod, "deleted")
			}
		},
	})
	return t, err
}

func (t *Timeline) update(old, now *v1.Pod) {
	switch {
	case old.Spec.NodeName == "" && now.Spec.NodeName != "":
		t.pod(now, "scheduled")
	case old.DeletionTimestamp == nil && now.DeletionTimestamp != nil:
		t.pod(now, "deleted")
	}
}

func (t *Timeline) pod(pod *v1.Pod, what string) {
	about := cmp.Or(t.engine.workload(pod), "Pod "+cluster.NameOf(pod).String())
	t.add(Event{About: about, What: what, Pods: 1})
}

// Node takes note of what is done to a node.
func (t *Timeline) Node(name, what string) { t.add(Event{About: "node " + name, What: what, Nodes: 1}) }

func (t *Timeline) add(e Event) {
	e.Seconds = int(t.engine.clock.FakeClock.Since(t.began) / time.Second)
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

// Section is the time line as a table.
func Section(events []Event) report.Section {
	var rows [][]string
	for _, e := range events {
		what := e.What
		if e.Pods > 0 {
			what = report.Plural(e.Pods, "pod") + " " + e.What
		}
		about := e.About
		if e.Nodes > 1 {
			about += fmt.Sprintf(" and %d more", e.Nodes-1)
		}
		rows = append(rows, []string{at(e.Seconds), about, what})
	}
	return report.Table("", []string{"TIME", "ABOUT", "WHAT"}, rows)
}

// at is a time of a time line, such as "+5m01s".
func at(seconds int) string {
	if seconds < 60 {
		return fmt.Sprintf("+%ds", seconds)
	}
	return fmt.Sprintf("+%dm%02ds", seconds/60, seconds%60)
}
