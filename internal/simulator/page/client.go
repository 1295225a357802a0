package page

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// objectClient is a dynamic client that knows the resource of each kind.
type objectClient struct {
	dynamic.Interface
	mapper meta.RESTMapper
}

// newObjectClient asks the API server for its kinds when it first needs them.
func newObjectClient(config *rest.Config) (*objectClient, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client of objects: %w", err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client of objects: %w", err)
	}
	return &objectClient{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

// of is where an object is sent to. It gives an object that needs a namespace and
// has none the default one.
func (c *objectClient) of(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	resource := c.Resource(mapping.Resource)
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return resource, nil
	}
	if o.Object["metadata"] == nil { // written, with nothing in it
		o.Object["metadata"] = map[string]any{}
	}
	o.SetNamespace(cmp.Or(o.GetNamespace(), metav1.NamespaceDefault))
	return resource.Namespace(o.GetNamespace()), nil
}
