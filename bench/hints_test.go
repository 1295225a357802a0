package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// BenchmarkHints measures what a new node costs while pods are pending, none of which it suits: the
// queueing hints, which lock the scheduler's queue (locked-ns/op), and the plugin's part in the attempts of
// the pods that they wake (attempts/op, attempts-ns/op). Each operation adds a node. A node every
// second is as many operations as seconds; the scheduler attempts what was woken before the next one.
func BenchmarkHints(b *testing.B) {
	variants := slices.DeleteFunc(asked(b), func(d *variant) bool { return d.name != "v2" && d.name != "native" })
	for _, patterns := range []int{100, *pending} {
		o := openAll(b, variants, []int{100})[0]
		var pods []*v1.Pod
		for i := range *pending {
			pod := newPatterns.pod(i)
			pod.Annotations[regex.Annotation] = fmt.Sprintf("^absent-%d-%d-", patterns, i%patterns)
			pods = append(pods, pod)
		}
		inTurns(b, *rounds, fmt.Sprintf("case=%d/nodes=100", patterns), variants, func(b *testing.B, d *variant) {
			o.measureHints(b, d, pods)
		})
	}
}

func (o *open) measureHints(b *testing.B, d *variant, pods []*v1.Pod) {
	s := o.sessions[d]
	events, err := s.(interface {
		EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error)
	}).EventsToRegister(background)
	testkit.Must(b, err)
	attempt := func(pods []*v1.Pod) time.Duration {
		began := time.Now()
		for _, pod := range pods {
			passed, err := s.Cycle(pod, nil)
			testkit.Must(b, err)
			if len(passed) > 0 {
				b.Fatalf("%s suits a pod that is to be pending", passed)
			}
		}
		return time.Since(began)
	}
	attempt(pods)
	attempts := 0
	var locked, attempting time.Duration
	for b.Loop() {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("edge-", fresh.Add(1))}}
		began := time.Now()
		woken := wokenBy(b, events, pods, node)
		locked += time.Since(began)
		attempts += len(woken)
		nodes := []*v1.Node{node}
		for _, info := range o.Nodes {
			nodes = append(nodes, info.Node())
		}
		o.Handle = snapshot.Of(nodes...)
		attempting += attempt(woken)
	}
	b.ReportMetric(float64(attempts)/float64(b.N), "attempts/op")
	b.ReportMetric(float64(locked.Nanoseconds())/float64(b.N), "locked-ns/op")
	b.ReportMetric(float64(attempting.Nanoseconds())/float64(b.N), "attempts-ns/op")
}

// wokenBy calls the hints for a new node, and returns the pods that they wake.
func wokenBy(b *testing.B, events []fwk.ClusterEventWithHint, pods []*v1.Pod, node *v1.Node) (woken []*v1.Pod) {
	added := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}
	for _, event := range events {
		if !framework.MatchClusterEvents(event.Event, added) {
			continue
		}
		for _, pod := range pods {
			hint, err := event.QueueingHintFn(klog.Background(), pod, nil, node)
			testkit.Must(b, err)
			if hint == fwk.Queue {
				woken = append(woken, pod)
			}
		}
	}
	return woken
}
