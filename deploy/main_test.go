// Package deploy tests the manifests in its folders: that they render, that a
// real API server takes them, and that the scheduler they describe schedules
// with the rights they give it.
package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/scheduler" // also for the metrics of its client
)

// namespace is where everything goes.
const namespace = "regex-scheduling"

// An API server is there for all tests, with the namespace and the CRDs in it.
var (
	admin   *rest.Config
	client  kubernetes.Interface
	objects dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		scheduler.Main() // which does not return
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	config, stop, err := startAPIServer()
	if err == nil {
		admin = config
		defer stop()
		err = prepare()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// prepare makes what all tests need.
func prepare() (err error) {
	if client, err = kubernetes.NewForConfig(admin); err != nil {
		return err
	}
	if objects, err = dynamic.NewForConfig(admin); err != nil {
		return err
	}
	mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	spaces, err := render("namespace")
	if err != nil {
		return err
	}
	for _, file := range []string{"testdata/servicemonitor-crd.yaml", "testdata/prometheusrule-crd.yaml"} {
		crd, err := readObject(file)
		if err != nil {
			return err
		}
		spaces = append(spaces, crd)
	}
	for _, object := range spaces {
		if err := apply(context.Background(), object); err != nil {
			return err
		}
	}
	return errors.Join(waitForKind("monitoring.coreos.com", "ServiceMonitor"), waitForKind("monitoring.coreos.com", "PrometheusRule"))
}

func readObject(file string) (*unstructured.Unstructured, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	return object, yaml.Unmarshal(data, object)
}

func waitForKind(group, kind string) error {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		_, err := resourceOf(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind})
		return err == nil, nil
	})
}

// apply is kubectl apply --server-side, with --dry-run=server if dryRun says so.
// An unknown field is an error.
func apply(ctx context.Context, object *unstructured.Unstructured, dryRun ...string) error {
	resource, err := resourceOf(object.GroupVersionKind())
	if err != nil {
		return err
	}
	data, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = resource.Namespace(object.GetNamespace()).Patch(ctx, object.GetName(), types.ApplyPatchType, data,
		metav1.PatchOptions{FieldManager: "test", FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun})
	return err
}

func resourceOf(kind schema.GroupVersionKind) (dynamic.NamespaceableResourceInterface, error) {
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		mapper.Reset() // it may come
		return nil, err
	}
	return objects.Resource(mapping.Resource), nil
}
