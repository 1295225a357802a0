// Package deploy tests the manifests in its folders: that they render, that a
// real API server takes them, and that the scheduler they describe schedules
// with the rights they give it.
package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
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

func mustApply(t *testing.T, all []*unstructured.Unstructured, dryRun ...string) {
	t.Helper()
	for _, object := range all {
		testkit.Must(t, apply(t.Context(), object, dryRun...))
	}
}

func resourceOf(kind schema.GroupVersionKind) (dynamic.NamespaceableResourceInterface, error) {
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		mapper.Reset() // it may come
		return nil, err
	}
	return objects.Resource(mapping.Resource), nil
}

// render is kubectl kustomize.
func render(folder string) ([]*unstructured.Unstructured, error) {
	return renderOn(filesys.MakeFsOnDisk(), folder)
}

// mustRenderBeside renders a kustomization in a folder beside this one.
func mustRenderBeside(t *testing.T, kustomization string) []*unstructured.Unstructured {
	t.Helper()
	rendered, err := renderBeside(t, kustomization)
	testkit.Must(t, err)
	return rendered
}

// nativeWith is the native plugin's scheduler with a component.
func nativeWith(t *testing.T, component string) []*unstructured.Unstructured {
	t.Helper()
	return mustRenderBeside(t, "resources: [../deploy/scheduler/native]\ncomponents: [../deploy/scheduler/components/"+component+"]\n")
}

func renderOn(files filesys.FileSystem, folder string) ([]*unstructured.Unstructured, error) {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, folder)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, resource := range rendered.Resources() {
		content, err := resource.Map()
		if err != nil {
			return nil, err
		}
		all = append(all, &unstructured.Unstructured{Object: content})
	}
	return all, nil
}

func renderBeside(t *testing.T, kustomization string) ([]*unstructured.Unstructured, error) {
	t.Helper()
	files := filesys.MakeFsInMemory()
	testkit.Must(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		data := testkit.ReadFile(t, path)
		return files.WriteFile("/deploy/"+filepath.ToSlash(path), data)
	}))
	testkit.Must(t, files.WriteFile("/mine/kustomization.yaml", []byte(kustomization)))
	return renderOn(files, "/mine")
}

// foldersWithKustomization are the folders that can be applied: components cannot, by
// themselves.
func foldersWithKustomization(t *testing.T) (folders []string) {
	t.Helper()
	testkit.Must(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		folder := filepath.Dir(path)
		if filepath.Base(path) == "kustomization.yaml" && filepath.Base(filepath.Dir(folder)) != "components" {
			folders = append(folders, folder)
		}
		return err
	}))
	return folders
}

func mustRender(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	rendered, err := render(folder)
	testkit.Must(t, err)
	return rendered
}

// ofKind decodes the objects of a kind.
func ofKind[T any](t *testing.T, rendered []*unstructured.Unstructured, kind string) (all []T) {
	t.Helper()
	for _, object := range rendered {
		if object.GetKind() != kind {
			continue
		}
		var typed T
		testkit.Must(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true))
		all = append(all, typed)
	}
	return all
}

// clusterWide are the kinds of ours that are in no namespace.
var clusterWide = regexp.MustCompile("^(ClusterRole|(Validating|Mutating)AdmissionPolicy)(Binding)?$")

// goesIntoOneNamespace checks namespace and labels of an object.
func goesIntoOneNamespace(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	switch {
	case object.GetNamespace() == namespace, object.GetKind() == "Namespace":
	case clusterWide.MatchString(object.GetKind()) && strings.HasPrefix(object.GetName(), namespace):
	default:
		t.Errorf("%s %s is in namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
	}
	if object.GetLabels()["app.kubernetes.io/part-of"] != namespace && object.GetKind() != "ServiceMonitor" {
		t.Errorf("%s %s is not labelled as a part of %s", object.GetKind(), object.GetName(), namespace)
	}
}

// selectors are the places of the labels by which an object chooses pods.
var selectors = map[string][]string{
	"Deployment":          {"spec", "selector", "matchLabels"},
	"NetworkPolicy":       {"spec", "podSelector", "matchLabels"},
	"PodDisruptionBudget": {"spec", "selector", "matchLabels"},
	"Service":             {"spec", "selector"},
	"ServiceMonitor":      {"spec", "selector", "matchLabels"},
}

// selectsOwnPods checks the selector of an object that has one.
func selectsOwnPods(t *testing.T, object *unstructured.Unstructured, deployments []appsv1.Deployment) {
	t.Helper()
	place, ok := selectors[object.GetKind()]
	if !ok {
		return
	}
	got, _, err := unstructured.NestedStringMap(object.Object, place...)
	testkit.Must(t, err)
	if len(got) != 1 || got["app.kubernetes.io/name"] == "" {
		t.Errorf("%s %s selects %v", object.GetKind(), object.GetName(), got)
	}
	for _, d := range deployments {
		if got["app.kubernetes.io/name"] != d.Name || d.Spec.Template.Labels["app.kubernetes.io/name"] != d.Name {
			t.Errorf("%s %s selects %v, but the pods of %s have %v", object.GetKind(), object.GetName(), got, d.Name, d.Spec.Template.Labels)
		}
	}
}
