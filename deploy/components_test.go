package deploy

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

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

// TestExtendersComponentsCombine renders every choice of them, and has the
// API server take it.
func TestExtendersComponentsCombine(t *testing.T) {
	components, err := filepath.Glob("extender/components/*") // in the order in which they must be named
	testkit.Must(t, err)
	if len(components) != 4 {
		t.Fatalf("components %v", components)
	}
	for choice := range 1 << len(components) {
		var chosen []string
		for i, component := range components {
			if choice&(1<<i) != 0 {
				chosen = append(chosen, filepath.Base(component))
			}
		}
		t.Run(strings.Join(chosen, "+"), func(t *testing.T) {
			text := "resources: [../deploy/extender/base]\ncomponents:\n"
			for _, component := range chosen {
				text += fmt.Sprintf("- ../deploy/extender/components/%s\n", component)
			}
			rendered, err := renderOn(inMemory(t, map[string]string{"/mine/kustomization.yaml": text}), "/mine")
			testkit.Must(t, err)
			for _, object := range rendered {
				if object.GetNamespace() != namespace {
					t.Errorf("%s %s is in namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
				}
				if err := apply(t.Context(), object, metav1.DryRunAll); err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
			}
			c := extenderOf(t, rendered)
			loads, secure := c.Prioritize == "load", c.TLS.Enabled()
			if loads != strings.Contains(text, "/load") || secure != strings.Contains(text, "/tls") {
				t.Errorf("prioritizes with %v, TLS %v", c.Prioritize, secure)
			}
		})
	}
}
