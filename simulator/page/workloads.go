package page

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
)

// owner is the workload that a pod is of.
type owner struct{ Kind, Key, Namespace, Name string }

// ownerOf is what made a pod, or nil if a person did. Key is empty if the page has
// no form for such.
func ownerOf(pod *v1.Pod) *owner {
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return nil
	}
	k, _ := kindOf(strings.ToLower(ref.Kind))
	return &owner{Kind: ref.Kind, Key: k.Key, Namespace: pod.Namespace, Name: ref.Name}
}

// progress is how far a workload is, or what keeps it from that.
func progress(k kind, o *unstructured.Unstructured) string {
	number := func(fallback int64, path ...string) int64 {
		if n, ok, _ := unstructured.NestedInt64(o.Object, path...); ok {
			return n
		}
		return fallback
	}
	switch k.Key {
	case "daemonset":
		return fmt.Sprintf("%d of %d ready", number(0, "status", "numberReady"), number(0, "status", "desiredNumberScheduled"))
	case "job":
		return fmt.Sprintf("%d of %d succeeded", number(0, "status", "succeeded"), number(1, "spec", "completions"))
	case "cronjob":
		schedule, _, _ := unstructured.NestedString(o.Object, "spec", "schedule")
		if suspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend"); suspended {
			return schedule + ", suspended"
		}
		return schedule
	}
	said := fmt.Sprintf("%d of %d ready", number(0, "status", "readyReplicas"), number(1, "spec", "replicas"))
	if why := failure(o); why != "" {
		said += ": " + why
	}
	return said
}

// failure is why a controller cannot make pods.
func failure(o *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, condition := range conditions {
		fields, _ := condition.(map[string]any)
		if fields["type"] == "ReplicaFailure" && fields["status"] == "True" {
			return fmt.Sprint(fields["message"])
		}
	}
	return ""
}

// scale gives a workload one replica more or less.
func (p *page) scale(w http.ResponseWriter, r *http.Request) {
	k, ok := kindOf(r.PathValue("kind"))
	by, err := strconv.ParseInt(r.URL.Query().Get("by"), 10, 32)
	if !ok || !k.Scales || err != nil {
		http.NotFound(w, r)
		return
	}
	name := r.URL.Query().Get("name")
	replicas, err := p.scaleBy(r.Context(), k, r.URL.Query().Get("namespace"), name, int32(by))
	if err != nil {
		notify(w, err.Error(), false)
	} else {
		notify(w, fmt.Sprintf("%s %s: %s", strings.ToLower(k.Title), name, plural(int(replicas), "replica")), true)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (p *page) scaleBy(ctx context.Context, k kind, namespace, name string, by int32) (replicas int32, err error) {
	client := p.dynamic.Resource(k.Resource).Namespace(namespace)
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		raw, err := client.Get(ctx, name, metav1.GetOptions{}, "scale")
		if err != nil {
			return err
		}
		var scale autoscalingv1.Scale
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, &scale); err != nil {
			return err
		}
		scale.Spec.Replicas = max(0, scale.Spec.Replicas+by)
		replicas = scale.Spec.Replicas
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&scale)
		if err != nil {
			return err
		}
		_, err = client.Update(ctx, &unstructured.Unstructured{Object: fields}, metav1.UpdateOptions{FieldManager: author}, "scale")
		return err
	})
	return replicas, err
}
