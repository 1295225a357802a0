package kubectl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/pager"

	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
)

// client connects to the cluster that the flags and the kubeconfig name.
func (o *options) client() (kubernetes.Interface, error) {
	if err := o.checkKubeconfig(); err != nil {
		return nil, err
	}
	config, err := o.cluster.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// checkKubeconfig comes before client-go reads the kubeconfigs.
func (o *options) checkKubeconfig() error {
	if *o.cluster.KubeConfig != "" {
		return readfile.Kubeconfig(*o.cluster.KubeConfig)
	}
	return readfile.Kubeconfig(clientcmd.NewDefaultClientConfigLoadingRules().Precedence...)
}

// pod reads the pod of an argument, NAME or pod/NAME.
func (o *options) pod(ctx context.Context, argument string) (kubernetes.Interface, *v1.Pod, error) {
	namespace, err := o.namespace()
	if err != nil {
		return nil, nil, err
	}
	client, err := o.client()
	if err != nil {
		return nil, nil, err
	}
	pod, err := client.CoreV1().Pods(namespace).Get(ctx, strings.TrimPrefix(argument, "pod/"), metav1.GetOptions{})
	return client, pod, err
}

// namespace returns the namespace of the flags or of the kubeconfig. "" is all namespaces.
func (o *options) namespace() (string, error) {
	if o.allNamespaces {
		return metav1.NamespaceAll, nil
	}
	if err := o.checkKubeconfig(); err != nil {
		return "", err
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

// surroundings are what explain reads besides the pod. For a pod that is not pending, these
// are only the nodes.
type surroundings struct {
	nodes     []*v1.Node
	noNodes   bool      // the user may not list them
	scheduler string    // the message of a scheduler about the pod
	pods      []*v1.Pod // of the cluster, if no scheduler has reported on the pod
	notRead   []string  // what could not be read, and why
}

// look reads the surroundings of a pod. It skips what the user has no right to read, and
// notes that.
func (o *options) look(ctx context.Context, client kubernetes.Interface, pod *v1.Pod) (seen *surroundings, err error) {
	seen = &surroundings{}
	allowed := func(err error) error {
		if apierrors.IsForbidden(err) {
			seen.notRead = append(seen.notRead, err.Error())
			return nil
		}
		return err
	}
	seen.nodes, err = o.nodes(ctx, "")
	seen.noNodes = err != nil
	err = allowed(err)
	if err != nil || pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		return seen, err
	}
	seen.scheduler, err = schedulerSays(ctx, client, pod)
	err = allowed(err)
	if err != nil || seen.scheduler != "" {
		return seen, err
	}
	seen.pods, err = o.pods(ctx, metav1.NamespaceAll)
	return seen, allowed(err)
}

// schedulerSays returns the last message of a scheduler about a pending pod. It is in the
// pod's condition, which outlives events, or else in an event.
func schedulerSays(ctx context.Context, client kubernetes.Interface, pod *v1.Pod) (string, error) {
	for _, c := range pod.Status.Conditions {
		// The API server sets the condition of a gate, and keeps it when the gate is gone.
		outlived := c.Reason == v1.PodReasonSchedulingGated && len(pod.Spec.SchedulingGates) == 0
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse && !outlived {
			return c.Message, nil
		}
	}
	events, err := client.CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "reason=FailedScheduling,involvedObject.uid=" + string(pod.UID),
	})
	if err != nil || len(events.Items) == 0 {
		return "", err
	}
	last := slices.MaxFunc(events.Items, func(a, b v1.Event) int {
		return cmp.Or(a.LastTimestamp.Compare(b.LastTimestamp.Time), a.EventTime.Compare(b.EventTime.Time))
	})
	return last.Message, nil
}

// schedulers returns the schedulerNames of the scheduled pods, in order.
func (s *surroundings) schedulers() (names []string) {
	for _, pod := range s.pods {
		if pod.Spec.NodeName != "" && !createdWithNode(pod) {
			names = append(names, pod.Spec.SchedulerName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
