package whole

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// bench is a control plane with nodes.
type bench struct {
	plan       Plan
	client     kubernetes.Interface
	kubeconfig string // of the scheduler
}

// writers is how many requests that make objects are under way at a time.
const writers = 16

// createNodes makes the nodes, Ready from the start.
func (b *bench) createNodes(ctx context.Context) error {
	return inParallel(ctx, b.plan.Nodes, func(i int) error {
		node := work.NewNode(i)
		node.UID = ""
		_, err := b.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
}

// createPods makes the pods of a run. Kinds of patterns take turns, all of which
// match some node.
func (b *bench) createPods(ctx context.Context) error {
	var cases []work.Case
	for _, c := range work.Cases() {
		if c.Name != "invalid" {
			cases = append(cases, c)
		}
	}
	return inParallel(ctx, b.plan.Pods, func(i int) error {
		pod := work.NewPod(i, cases[i%len(cases)])
		pod.UID = ""
		_, err := b.client.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// deletePods leaves no pod behind.
func (b *bench) deletePods(ctx context.Context) error {
	pods := b.client.CoreV1().Pods(metav1.NamespaceDefault)
	list, err := pods.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	now := int64(0)
	err = inParallel(ctx, len(list.Items), func(i int) error {
		return pods.Delete(ctx, list.Items[i].Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	})
	if err != nil {
		return err
	}
	if left, err := pods.List(ctx, metav1.ListOptions{}); err != nil || len(left.Items) > 0 {
		return fmt.Errorf("%d pods are left (%v)", len(left.Items), err)
	}
	return nil
}

// inParallel does n pieces of work, and returns the first error.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	errs := make([]error, n)
	workqueue.ParallelizeUntil(ctx, writers, n, func(i int) { errs[i] = do(i) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// bound reports whether a scheduler has placed a pod.
func bound(pod *v1.Pod) bool { return pod.Spec.NodeName != "" }
