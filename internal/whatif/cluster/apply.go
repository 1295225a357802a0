package cluster

import (
	"context"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// ApplyWorkload creates an object, or gives the one of its name its spec, labels and annotations, as kubectl apply does. What
// has no number of replicas keeps the one that is there. One that was inferred is replaced. No one else may have the object.
func (c *Cluster) ApplyWorkload(ctx context.Context, o Object) error {
	k := c.of(o)
	live := k.get(o.GetNamespace(), o.GetName())
	if live != nil && inferred(live) { // whose selector is not known
		c.Delete(live)
		live = nil
	}
	if live == nil {
		_, err := c.Create(ctx, o)
		return err
	}
	spec := reflect.ValueOf(o).Elem().FieldByName("Spec")
	replicas := spec.FieldByName("Replicas")
	if replicas.IsValid() && replicas.IsNil() {
		replicas.Set(reflect.ValueOf(specOf(live)).FieldByName("Replicas"))
	}
	legacyscheme.Scheme.Default(o)
	changed := live.DeepCopyObject().(Object)
	reflect.ValueOf(changed).Elem().FieldByName("Spec").Set(spec)
	changed.SetLabels(labels.Merge(live.GetLabels(), o.GetLabels()))
	changed.SetAnnotations(labels.Merge(live.GetAnnotations(), o.GetAnnotations()))
	if err := c.validateUpdate(ctx, k, live, changed); err != nil {
		return err
	}
	return c.Update(changed)
}

// validateUpdate refuses what an API server refuses to change.
func (c *Cluster) validateUpdate(ctx context.Context, k *kind, old, changed Object) error {
	strategy, ok := strategies[k.kind.Kind].(rest.RESTUpdateStrategy)
	if !ok {
		return nil
	}
	var internal [2]runtime.Object
	for i, o := range []Object{old, changed} {
		converted, err := legacyscheme.Scheme.ConvertToVersion(o.DeepCopyObject(), runtime.InternalGroupVersioner)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		internal[i] = converted
	}
	return rest.BeforeUpdate(strategy, k.request(ctx, "update", old), internal[1], internal[0])
}
