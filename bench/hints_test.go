package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// BenchmarkHints measures the queueing hints for one new node, which lock the scheduler's
// queue. The pods are pending, each with a pattern of its own that does not match the node.
func BenchmarkHints(b *testing.B) {
	variants := slices.DeleteFunc(asked(b), func(d *variant) bool { return d.name != "v2" && d.name != "native" })
	c := newCluster(100)
	var pods []*v1.Pod
	for range *pending {
		pod := newPatterns.again(newPatterns.pod(0))
		pods = append(pods, pod)
	}
	sessions := map[*variant]*inScheduler{}
	for _, d := range variants {
		s, err := d.open(c)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		in, ok := s.(*inScheduler)
		if g, is := s.(*guest); is {
			in, ok = g.inScheduler, true
		}
		if !ok {
			b.Fatalf("variant %s has no hints", d.name)
		}
		for _, pod := range pods { // each is unschedulable
			if _, err := in.Cycle(pod, nil); err != nil {
				b.Fatal(err)
			}
		}
		sessions[d] = in
	}
	fresh := 0
	inTurns(b, *rounds, fmt.Sprintf("case=%d/nodes=100", *pending), variants, func(b *testing.B, d *variant) {
		events, err := sessions[d].filter.(fwk.EnqueueExtensions).EventsToRegister(background)
		if err != nil {
			b.Fatal(err)
		}
		woken := 0
		var took time.Duration
		for b.Loop() {
			fresh++
			node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("edge-", fresh)}}
			began := time.Now()
			woken += wokenBy(b, events, pods, node)
			took += time.Since(began)
		}
		b.ReportMetric(float64(woken)/float64(b.N), "woken/op")
		b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "locked-ns/op")
	})
}

// wokenBy calls the hints for a new node, and counts the pods that they requeue.
func wokenBy(b *testing.B, events []fwk.ClusterEventWithHint, pods []*v1.Pod, node *v1.Node) (woken int) {
	added := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}
	for _, event := range events {
		if !framework.MatchClusterEvents(event.Event, added) {
			continue
		}
		for _, pod := range pods {
			hint, err := event.QueueingHintFn(klog.Background(), pod, nil, node)
			if err != nil {
				b.Fatal(err)
			}
			if hint == fwk.Queue {
				woken++
			}
		}
	}
	return woken
}
