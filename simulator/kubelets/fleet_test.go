package kubelets

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// BenchmarkFleet times a fleet of the size that the simulator is meant for, from
// the first request until all of it is Ready or Running. Run it with
// -benchtime=1x: the fleet stays.
func BenchmarkFleet(b *testing.B) {
	const nodes, pods = 1000, 5000
	for n := 0; b.Loop(); n++ {
		began := time.Now()
		inParallel(nodes, func(i int) { makeNode(b, fmt.Sprintf("fleet-%d-%d", n, i)) })
		b.ReportMetric(time.Since(began).Seconds(), "s-to-make-nodes")
		eventually.Succeeds(b, "all nodes are ready", func(ctx context.Context) error { return allReady(ctx) })
		b.ReportMetric(time.Since(began).Seconds(), "s-to-ready-nodes")

		began = time.Now()
		inParallel(pods, func(i int) { makePod(b, fmt.Sprintf("fleet-%d-%d", n, i%nodes), fmt.Sprintf("fleet-%d-%d", n, i)) })
		b.ReportMetric(time.Since(began).Seconds(), "s-to-make-pods")
		eventually.Succeeds(b, "all pods run", func(ctx context.Context) error { return allRunning(ctx) })
		b.ReportMetric(time.Since(began).Seconds(), "s-to-running-pods")
	}
}

func allReady(ctx context.Context) error {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if err := readiness(&list.Items[i]); err != nil {
			return fmt.Errorf("node %s: %w", list.Items[i].Name, err)
		}
	}
	return nil
}

func allRunning(ctx context.Context) error {
	list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	for _, pod := range list.Items {
		if pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("pod %s: phase %s", pod.Name, pod.Status.Phase)
		}
	}
	return nil
}

func inParallel(n int, do func(i int)) {
	const workers = 32
	var group sync.WaitGroup
	for w := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := w; i < n; i += workers {
				do(i)
			}
		}()
	}
	group.Wait()
}
