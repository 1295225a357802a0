package deploy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// render is kubectl kustomize.
func render(folder string) ([]*unstructured.Unstructured, error) {
	return renderOn(filesys.MakeFsOnDisk(), folder)
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

// inMemory has the files of this folder and the given ones, by path.
func inMemory(t *testing.T, more map[string]string) filesys.FileSystem {
	t.Helper()
	files := filesys.MakeFsInMemory()
	testkit.Must(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		testkit.Must(t, err)
		return files.WriteFile("/deploy/"+filepath.ToSlash(path), data)
	}))
	for path, text := range more {
		testkit.Must(t, files.WriteFile(path, []byte(text)))
	}
	return files
}

// foldersWithKustomization are the folders that can be applied: components cannot, by
// themselves.
func foldersWithKustomization(t *testing.T) (folders []string) {
	t.Helper()
	for _, folder := range foldersWith(t, "kustomization.yaml") {
		if filepath.Base(filepath.Dir(folder)) != "components" {
			folders = append(folders, folder)
		}
	}
	return folders
}

func foldersWith(t *testing.T, file string) (folders []string) {
	t.Helper()
	testkit.Must(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == file {
			folders = append(folders, filepath.Dir(path))
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

// selectsOwnPods checks the selector of an object that has one.
func selectsOwnPods(t *testing.T, object *unstructured.Unstructured, deployments []appsv1.Deployment) {
	t.Helper()
	switch object.GetKind() {
	case "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceMonitor":
	default:
		return
	}
	got := selectorOf(t, object).MatchLabels
	if len(got) != 1 || got["app.kubernetes.io/name"] == "" {
		t.Errorf("%s %s selects %v", object.GetKind(), object.GetName(), got)
	}
	for _, d := range deployments {
		if got["app.kubernetes.io/name"] != d.Name || d.Spec.Template.Labels["app.kubernetes.io/name"] != d.Name {
			t.Errorf("%s %s selects %v, but the pods of %s have %v", object.GetKind(), object.GetName(), got, d.Name, d.Spec.Template.Labels)
		}
	}
}

// selectorOf finds the selector of an object by which it chooses pods.
func selectorOf(t *testing.T, object *unstructured.Unstructured) metav1.LabelSelector {
	t.Helper()
	path := map[string][]string{
		"Deployment":          {"spec", "selector"},
		"NetworkPolicy":       {"spec", "podSelector"},
		"PodDisruptionBudget": {"spec", "selector"},
		"ServiceMonitor":      {"spec", "selector"},
	}[object.GetKind()]
	if object.GetKind() == "Service" {
		labels, _, err := unstructured.NestedStringMap(object.Object, "spec", "selector")
		testkit.Must(t, err)
		return metav1.LabelSelector{MatchLabels: labels}
	}
	content, _, err := unstructured.NestedMap(object.Object, path...)
	testkit.Must(t, err)
	var selector metav1.LabelSelector
	testkit.Must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(content, &selector))
	return selector
}
