package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// Change makes the change, but for evictions.
func (s *Scenario) Change(t T, config *rest.Config) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	testkit.Must(t, err)
	for _, what := range s.Delete {
		kind, namespace, name := about(what)
		if err := of(client, kindOf(t, kind), namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("delete %s: %v", what, err)
		}
		s.Each()
	}
	for _, node := range s.Drain {
		patch(t, client, fmt.Appendf(nil, `{"kind":"Node","metadata":{"name":%q},"spec":{"unschedulable":true}}`, node))
		s.Each()
	}
	for _, change := range s.Patch {
		patch(t, client, change)
		s.Each()
	}
	made := s.Made(t)
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(made) {
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
			testkit.Must(t, err)
			u := &unstructured.Unstructured{Object: object}
			u.SetGroupVersionKind(kind.Resource.GroupVersion().WithKind(kind.Kind))
			if _, err := of(client, kind, o.GetNamespace()).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
				t.Fatalf("create %s %s: %v", kind.Title, o.GetName(), err)
			}
			s.Each()
		}
	}
}

// patch sends a merge patch. One with a status is of the status.
func patch(t T, client dynamic.Interface, change []byte) {
	t.Helper()
	var object unstructured.Unstructured
	testkit.Must(t, object.UnmarshalJSON(change))
	kind, namespace := kindOf(t, object.GetKind()), cmp.Or(object.GetNamespace(), metav1.NamespaceDefault)
	var subresource []string
	if object.Object["status"] != nil {
		subresource = []string{"status"}
	}
	_, err := of(client, kind, namespace).Patch(t.Context(), object.GetName(), types.MergePatchType, change, metav1.PatchOptions{}, subresource...)
	if err != nil {
		t.Fatalf("patch %s: %v", change, err)
	}
}

func kindOf(t T, word string) snapshot.Kind {
	t.Helper()
	at := slices.IndexFunc(snapshot.Kinds, func(k snapshot.Kind) bool { return strings.EqualFold(k.Kind, word) })
	if at < 0 {
		t.Fatalf("no kind %q", word)
	}
	return snapshot.Kinds[at]
}

func of(client dynamic.Interface, kind snapshot.Kind, namespace string) dynamic.ResourceInterface {
	if kind.Namespaced() {
		return client.Resource(kind.Resource).Namespace(namespace)
	}
	return client.Resource(kind.Resource)
}

// Evictions are of the pods that a change names, and of pods on nodes that it drains.
type Evictions struct {
	Kept map[types.UID]string // why some were rejected, the last time
	of   map[types.UID]bool   // pods that are to go: not pods that were evicted and come back
}

// Go evicts the pods of the change again, and returns how many went.
func (e *Evictions) Go(ctx context.Context, s *Scenario, client kubernetes.Interface) (gone int, err error) {
	all, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	if e.of == nil {
		e.of = map[types.UID]bool{}
		for i := range all.Items {
			e.of[all.Items[i].UID] = s.evicts(&all.Items[i])
		}
	}
	e.Kept = map[types.UID]string{}
	for i := range all.Items {
		pod := &all.Items[i]
		if !e.of[pod.UID] || pod.DeletionTimestamp != nil {
			continue
		}
		err := evict(ctx, client, pod)
		status := apierrors.APIStatus(nil)
		switch {
		case err == nil:
			gone++
		case apierrors.IsNotFound(err):
		case errors.As(err, &status):
			e.Kept[pod.UID] = Refusal(refusal(err))
		default:
			return 0, err
		}
	}
	return gone, nil
}

// evict does not try again by itself, as a client would on an error of the server. The pod is gone at once, as in a what-if: while
// one ends, another may come to a node that is as good without it.
func evict(ctx context.Context, client kubernetes.Interface, pod *v1.Pod) error {
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)},
	}
	return client.CoreV1().RESTClient().Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("eviction").
		MaxRetries(0).Body(eviction).Do(ctx).Error()
}

// evicts reports whether a change evicts a pod: it names the pod, or it drains its node as
// kubectl drain --ignore-daemonsets does without --force.
func (s *Scenario) evicts(pod *v1.Pod) bool {
	named := slices.ContainsFunc(s.Evict, func(what string) bool {
		_, namespace, name := about(what)
		return namespace == pod.Namespace && name == pod.Name
	})
	owner := metav1.GetControllerOf(pod)
	drained := owner != nil && owner.Kind != "DaemonSet" && pod.Annotations[v1.MirrorPodAnnotationKey] == ""
	return named || drained && slices.Contains(s.Drain, pod.Spec.NodeName)
}

// Refusal is a budget's message without why it could not be counted. If it never was, it
// has another one.
func Refusal(message string) string {
	message, _, _ = strings.Cut(message, " because it failed sync: ")
	return strings.Replace(message, "is still being processed by the server.", "does not allow evicting pods currently", 1)
}

func refusal(err error) string {
	if cause, ok := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause); ok {
		return cause.Message
	}
	return err.Error()
}
