// Package timeline records what happens to pods and nodes in a cluster in memory, and when, and reports it.
package timeline

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/clock"
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

// Wait is how long pods of a workload that were created during the recording were not running.
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

	cluster *cluster.Cluster
	clock   *clock.Clock
	reason  func(*v1.Pod) string
	began   time.Time
	ended   bool
	since   map[types.UID]int // when pods were created that are not running, in seconds
}

// Record begins a recording, which [Timeline.End] ends. Reason is why a pod is not running.
func Record(c *cluster.Cluster, now *clock.Clock, reason func(*v1.Pod) string) (*Timeline, error) {
	t := &Timeline{Events: []Event{}, cluster: c, clock: now, reason: reason, began: now.Current(), since: map[types.UID]int{}}
	_, err := c.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
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
	if now.Status.Phase == v1.PodFailed && old.Status.Phase != v1.PodFailed {
		t.pod(now, "rejected by the kubelet") // and its controller creates others
		delete(t.since, now.UID)
	}
	if podutil.IsPodReady(now) {
		t.wait(now, false)
	}
}

func (t *Timeline) deleted(pod *v1.Pod) {
	t.pod(pod, "deleted")
	t.wait(pod, false)
}

// wait records how long a pod was not running, if it was not. Still is set where it is not running now.
func (t *Timeline) wait(pod *v1.Pod, still bool) {
	from, ok := t.since[pod.UID]
	delete(t.since, pod.UID)
	if !ok || t.ended || from == t.now() && !still {
		return
	}
	w := Wait{About: t.about(pod), Pods: 1, From: from, To: t.now(), Still: still, Reason: t.reason(pod)}
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

// End ends a recording.
func (t *Timeline) End() {
	for _, pod := range cluster.All[*v1.Pod](t.cluster) {
		if !podutil.IsPodTerminal(pod) {
			t.wait(pod, true)
		}
	}
	t.ended = true
}

func (t *Timeline) now() int { return int(t.clock.Since(t.began) / time.Second) }

func (t *Timeline) about(pod *v1.Pod) string {
	return cmp.Or(t.cluster.WorkloadName(pod), "Pod "+cluster.NameOf(pod).String())
}

func (t *Timeline) pod(pod *v1.Pod, what string) {
	t.add(Event{About: t.about(pod), What: what, Pods: 1})
}

// Node records what is done to a node.
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
