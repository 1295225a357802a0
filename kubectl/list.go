package kubectl

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"
)

// listNodes reads the nodes with some labels; "" is all of them.
func listNodes(ctx context.Context, client kubernetes.Interface, selector string) ([]*v1.Node, error) {
	return list[v1.Node](ctx, "nodes", metav1.ListOptions{LabelSelector: selector}, func(opts metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Nodes().List(ctx, opts)
	})
}

// listPods reads the pods of a namespace; "" is every namespace.
func listPods(ctx context.Context, client kubernetes.Interface, namespace string) ([]*v1.Pod, error) {
	return list[v1.Pod](ctx, "pods", metav1.ListOptions{}, func(opts metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Pods(namespace).List(ctx, opts)
	})
}

// list reads page by page, as kubectl does.
func list[T any](ctx context.Context, what string, options metav1.ListOptions, page func(metav1.ListOptions) (runtime.Object, error)) ([]*T, error) {
	var all []*T
	err := pager.New(pager.SimplePageFunc(page)).EachListItem(ctx, options, func(object runtime.Object) error {
		all = append(all, any(object).(*T))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", what, err)
	}
	return all, nil
}
