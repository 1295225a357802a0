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

// client connects to the cluster that the flags and the kubeconfig name.
func (o *options) client() (kubernetes.Interface, error) {
	config, err := o.cluster.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// namespace returns the namespace of the flags or of the kubeconfig. "" is all namespaces.
func (o *options) namespace() (string, error) {
	if o.allNamespaces {
		return metav1.NamespaceAll, nil
	}
	namespace, _, err := o.cluster.ToRawKubeConfigLoader().Namespace()
	return namespace, err
}

// nodes reads the nodes with some labels, or all nodes for "".
func (o *options) nodes(ctx context.Context, selector string) ([]*v1.Node, error) {
	return list[v1.Node](ctx, o, "nodes", func(client kubernetes.Interface, opts metav1.ListOptions) (runtime.Object, error) {
		opts.LabelSelector = selector
		return client.CoreV1().Nodes().List(ctx, opts)
	})
}

// pods reads the pods of a namespace, or of all namespaces for "".
func (o *options) pods(ctx context.Context, namespace string) ([]*v1.Pod, error) {
	return list[v1.Pod](ctx, o, "pods", func(client kubernetes.Interface, opts metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Pods(namespace).List(ctx, opts)
	})
}

// list reads page by page, as kubectl does.
func list[T any](ctx context.Context, o *options, what string, page func(kubernetes.Interface, metav1.ListOptions) (runtime.Object, error)) (all []*T, err error) {
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	pages := pager.New(pager.SimplePageFunc(func(opts metav1.ListOptions) (runtime.Object, error) { return page(client, opts) }))
	err = pages.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		all = append(all, any(object).(*T))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", what, err)
	}
	return all, nil
}
