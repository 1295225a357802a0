package capture

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/retry"
)

type (
	pod  = v1.Pod
	node = v1.Node
)

// fill makes what is in testdata/objects.yaml, once for all tests.
func fill(t *testing.T) {
	t.Helper()
	if err := filled(); err != nil {
		t.Fatal(err)
	}
}

var filled = sync.OnceValue(func() error {
	file, err := os.Open("testdata/objects.yaml")
	if err != nil {
		return err
	}
	defer file.Close()
	objects, err := dynamic.NewForConfig(real.AdminConfig())
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	uids := map[string]types.UID{}
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		o := &unstructured.Unstructured{}
		if decoder.Decode(o) != nil {
			return nil // the end; what is missing the tests will say
		}
		mapping, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		if err != nil {
			return err
		}
		for name, owner := range map[string][2]string{"web-1": {"Deployment", "web"}, "old": {"Deployment", "web"}, "web-1-x": {"ReplicaSet", "web-1"}} {
			if o.GetName() == name {
				o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: owner[0], Name: owner[1], UID: uids[owner[0]+owner[1]]}})
			}
		}
		resource := objects.Resource(mapping.Resource).Namespace(o.GetNamespace())
		made, err := create(resource, o)
		if err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		uids[o.GetKind()+o.GetName()] = made.GetUID()
	}
})

// create makes an object, with the status that is written down for it.
func create(in dynamic.ResourceInterface, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	made, err := in.Create(context.Background(), o, metav1.CreateOptions{})
	if err != nil || o.Object["status"] == nil {
		return made, err
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error { // a controller may have written it meanwhile
		if made, err = in.Get(context.Background(), o.GetName(), metav1.GetOptions{}); err != nil {
			return err
		}
		made.Object["status"] = o.Object["status"]
		made, err = in.UpdateStatus(context.Background(), made, metav1.UpdateOptions{})
		return err
	})
	return made, err
}
