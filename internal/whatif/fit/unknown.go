package fit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// noPods are kinds of Kubernetes that hold templates, or are not in its client's scheme, and create no pods.
var noPods = []string{"PodTemplate", "ControllerRevision.apps", "CustomResourceDefinition.apiextensions.k8s.io", "APIService.apiregistration.k8s.io"}

// addUnknown takes an object of a kind that a snapshot does not have. Of a custom resource, or of a version that is not
// served any more, each pod template is a workload without an owner. A kind that no API server can have is an error.
func (m *Manifests) addUnknown(o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	name := gvk.GroupVersion().String() + " " + gvk.Kind
	var found []template
	if !slices.Contains(noPods, gvk.GroupKind().String()) {
		found = templates(o.Object, 1)
		if len(found) == 0 && !scheme.Scheme.Recognizes(gvk) {
			m.unknown[name]++
			return nil
		}
	}
	if len(found) == 0 {
		m.skipped[name]++
	} else if err := isKnown(gvk, o.GetName()); err != nil {
		return err
	}
	for i, one := range found {
		w := &Workload{
			Kind: gvk.Kind, Namespace: cmp.Or(o.GetNamespace(), m.namespace.Name), Name: cmp.Or(o.GetName(), o.GetGenerateName()),
			wanted: one.pods, Unknown: true,
		}
		if i > 0 {
			w.Name += "-" + strconv.Itoa(i+1)
		}
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: one.template.Labels, Annotations: one.template.Annotations}, Spec: one.template.Spec}
		pod.Namespace, pod.Name = w.Namespace, w.Name
		w.object = pod
		m.workloads = append(m.workloads, w)
	}
	return nil
}

// isKnown refuses a kind that Kubernetes does not have in a group that is its own: the group of a custom resource has a dot.
func isKnown(gvk schema.GroupVersionKind, name string) error {
	if strings.Contains(gvk.Group, ".") || slices.Contains(noPods, gvk.GroupKind().String()) {
		return nil
	}
	var meant []string
	for known := range scheme.Scheme.AllKnownTypes() {
		if known.GroupKind() == gvk.GroupKind() {
			return nil // in another version
		}
		if known.Kind == gvk.Kind && known.Version != runtime.APIVersionInternal {
			meant = append(meant, scheme.Scheme.PrioritizedVersionsForGroup(known.Group)[0].String())
		}
	}
	err := fmt.Errorf("%s %s: Kubernetes has no such kind in %s", gvk.Kind, name, gvk.GroupVersion())
	if len(meant) > 0 {
		err = fmt.Errorf("%w; did you mean apiVersion %s?", err, slices.Min(meant))
	}
	return err
}

// template is a pod template, and how many pods of it are wanted.
type template struct {
	template *v1.PodTemplateSpec
	pods     int
}

// templates finds the pod templates in an object. What is around one multiplies its pods by its replicas, or by its parallelism.
func templates(in any, pods int) (all []template) {
	if list, ok := in.([]any); ok {
		for _, one := range list {
			all = append(all, templates(one, pods)...)
		}
		return all
	}
	object, ok := in.(map[string]any)
	if !ok {
		return nil
	}
	containers, _, _ := unstructured.NestedSlice(object, "spec", "containers")
	if len(containers) > 0 {
		t := &v1.PodTemplateSpec{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object, t) == nil {
			return []template{{t, pods}}
		}
	}
	for _, field := range []string{"replicas", "parallelism"} {
		n, ok := object[field].(int64)
		if ok {
			pods *= int(n)
		}
	}
	if object["suspend"] == true {
		pods = 0
	}
	for _, field := range slices.Sorted(maps.Keys(object)) {
		all = append(all, templates(object[field], pods)...)
	}
	return all
}
