package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"
)

// Decode makes an object of a manifest. Fields that its kind does not have are errors.
func (c *Cluster) Decode(manifest map[string]any) (Object, error) {
	u := &unstructured.Unstructured{Object: manifest}
	none, err := scheme.Scheme.New(u.GroupVersionKind())
	if err != nil {
		return nil, fmt.Errorf("there is no kind %s in %s", u.GetKind(), u.GetAPIVersion())
	}
	o, ok := none.(Object)
	if !ok || c.of(o) == nil {
		return nil, c.errNotServed("write", u.GetKind())
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(manifest, o, true); err != nil {
		return nil, err
	}
	if c.of(o).namespaced && o.GetNamespace() == "" {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	return o, nil
}

// Patch changes the fields of an object that a manifest has, also those of its status.
func (c *Cluster) Patch(manifest map[string]any) error {
	o, err := c.Decode(manifest)
	if err != nil {
		return err
	}
	k := c.of(o)
	for _, subresource := range []string{"", "status"} {
		if subresource != "" && (manifest[subresource] == nil || k.strategies.Status == nil) {
			continue
		}
		patch, err := json.Marshal(manifest)
		if err != nil {
			return err
		}
		_, err = c.patch(context.Background(), k, &request.RequestInfo{Namespace: o.GetNamespace(), Name: o.GetName(), Subresource: subresource}, types.StrategicMergePatchType, patch)
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteBy deletes the object that a manifest names, with what goes with it.
func (c *Cluster) DeleteBy(manifest map[string]any) error {
	o, err := c.Decode(manifest)
	if err != nil {
		return err
	}
	if c.of(o).get(o.GetNamespace(), o.GetName()) == nil {
		return c.of(o).notFound(o.GetName())
	}
	c.Delete(o)
	return nil
}
