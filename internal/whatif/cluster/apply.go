package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	kubectl "k8s.io/kubectl/pkg/util"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// Apply creates an object, or changes the one of its name as kubectl apply does: its fields are set, fields that an annotation
// of the live one has as applied last go if it lacks them, and what others have written stays. kept are the fields of the spec
// that stay so. An annotation of the object has it as a person wrote it, or else it is applied as it is. An inferred live object
// is replaced. No one else may have the object.
func (c *Cluster) Apply(ctx context.Context, o Object) (kept []string, err error) {
	k := c.of(o)
	live := c.Current(o)
	if live != nil && isInferred(live) { // whose selector is not known
		c.Delete(live)
		live = nil
	}
	if live == nil {
		_, err := c.Create(ctx, o)
		return nil, err
	}
	patch, err := applyPatch(live, o)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	is, err := c.patch(ctx, k, &request.RequestInfo{Namespace: o.GetNamespace(), Name: o.GetName()}, types.StrategicMergePatchType, patch)
	if err != nil {
		return nil, err
	}
	has, err := runtime.DefaultUnstructuredConverter.ToUnstructured(is)
	if err != nil {
		return nil, err
	}
	wants, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.asCreated(ctx, k, o, is.GetUID()))
	return slices.Compact(keptFields(has["spec"], wants["spec"], "spec")), err
}

// asCreated is an object as an API server would make it, with defaults and with what its strategy adds, if that is valid.
func (c *Cluster) asCreated(ctx context.Context, k *kind, o Object, uid types.UID) Object {
	legacyscheme.Scheme.Default(o)
	internal, err := legacyscheme.Scheme.ConvertToVersion(o, runtime.InternalGroupVersioner)
	if err != nil {
		return o
	}
	internal.(metav1.Object).SetUID(notYet)
	err = rest.BeforeCreate(k.strategies.Object, k.request(ctx, "create", o), internal)
	if err != nil {
		return o
	}
	external, err := legacyscheme.Scheme.UnsafeConvertToVersion(internal, k.kind.GroupVersion())
	if err != nil {
		return o
	}
	identifyAs(external.(Object), uid)
	return external.(Object)
}

// applyPatch is what kubectl apply sends.
func applyPatch(live, o Object) ([]byte, error) {
	current, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	modified, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	written := &unstructured.Unstructured{}
	if written.UnmarshalJSON([]byte(o.GetAnnotations()[v1.LastAppliedConfigAnnotation])) == nil {
		modified, err = kubectl.GetModifiedConfiguration(written, true, unstructured.UnstructuredJSONScheme)
		if err != nil {
			return nil, err
		}
	}
	original := []byte(live.GetAnnotations()[v1.LastAppliedConfigAnnotation])
	if !json.Valid(original) { // a snapshot may have a digest of it
		original = nil
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(o)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateThreeWayMergePatch(original, modified, current, schema, true)
}

// keptFields are the paths of fields that one value has and another one lacks, or has with another value. Elements of lists have
// names.
func keptFields(has, other any, path string) (paths []string) {
	fields, isMap := has.(map[string]any)
	elements, isList := has.([]any)
	others, _ := other.(map[string]any)
	switch {
	case reflect.DeepEqual(has, other):
	case isMap && others != nil:
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			paths = append(paths, keptFields(fields[name], others[name], path+"."+name)...)
		}
	case isList && other != nil:
		for _, element := range elements {
			named, _ := element.(map[string]any)
			at := slices.IndexFunc(other.([]any), func(o any) bool {
				m, ok := o.(map[string]any)
				return ok && named["name"] != nil && m["name"] == named["name"] || reflect.DeepEqual(o, element)
			})
			if at >= 0 {
				paths = append(paths, keptFields(element, other.([]any)[at], fmt.Sprintf("%s[%v]", path, named["name"]))...)
			} else {
				paths = append(paths, path)
			}
		}
	default:
		paths = append(paths, path)
	}
	return paths
}
