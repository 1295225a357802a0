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
)

// BenchmarkHints measures the queueing hints for one new node, which lock the scheduler's
// queue. The pods are pending, each with a pattern of its own that does not match the node.
func BenchmarkHints(b *testing.B) {
	variants := slices.DeleteFunc(asked(b), func(d *variant) bool { return d.name != "v2" && d.name != "native" })
	opened := openAll(b, variants, []int{100})[0]
	var pods []*v1.Pod
	for range *pending {
		pods = append(pods, newPatterns.pod(0))
	}
	for _, s := range opened.sessions {
		for _, pod := range pods { // each is unschedulable
			_, err := s.Cycle(pod, nil)
			testkit.Must(b, err)
		}
	}
	fresh := 0
	inTurns(b, *rounds, fmt.Sprintf("case=%d/nodes=100", *pending), variants, func(b *testing.B, d *variant) {
		s := opened.sessions[d].(interface {
			EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error)
		})
		events, err := s.EventsToRegister(background)
		testkit.Must(b, err)
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
			testkit.Must(b, err)
			if hint == fwk.Queue {
				woken++
			}
		}
	}
	return woken
}
