package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// manifest is what krew reads of a plugin, strictly:
// https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string `json:"version"`
		Homepage         string `json:"homepage"`
		ShortDescription string `json:"shortDescription"`
		Description      string `json:"description"`
		Platforms        []struct {
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			URI    string `json:"uri"`
			SHA256 string `json:"sha256"`
			Bin    string `json:"bin"`
		} `json:"platforms"`
	} `json:"spec"`
}

// What krew's index asks of a plugin: fields that exist, a name of small letters, a version with
// v, a line that describes it, and archives with these digests that have the binary.
func TestKrewManifestIsAsItsIndexDocuments(t *testing.T) {
	folder := t.TempDir()
	for _, target := range []string{"linux-amd64", "darwin-arm64", "windows-amd64.exe"} {
		must(t, os.WriteFile(filepath.Join(folder, program+"-"+target), []byte(target), 0o755))
	}
	license := filepath.Join(t.TempDir(), "LICENSE")
	must(t, os.WriteFile(license, []byte("free"), 0o644))
	must(t, pack("v9.8.7", "https://example.com/v9.8.7", folder, []string{license}))
	text, err := os.ReadFile(filepath.Join(folder, name+".yaml"))
	must(t, err)
	var m manifest
	if err := yaml.UnmarshalStrict(text, &m); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if len(m.Spec.Platforms) != 3 || m.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || m.Kind != "Plugin" || m.Spec.Version != "v9.8.7" ||
		"kubectl-"+m.Metadata.Name != program || // else what it completes, and all that we write, has another name
		!strings.HasPrefix(m.Spec.Homepage, "https://") || m.Spec.Description == "" || !regexp.MustCompile(`^.+$`).MatchString(m.Spec.ShortDescription) {
		t.Errorf("%+v", m)
	}
	for _, p := range m.Spec.Platforms {
		if len(p.Selector.MatchLabels) != 2 || p.Selector.MatchLabels["os"] == "" || p.Selector.MatchLabels["arch"] == "" {
			t.Errorf("selector %v", p.Selector)
		}
		file, found := strings.CutPrefix(p.URI, "https://example.com/v9.8.7/")
		archive, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil || !found || fmt.Sprintf("%x", sha256.Sum256(archive)) != p.SHA256 {
			t.Errorf("%s: %v, digest %s", p.URI, err, p.SHA256)
			continue
		}
		files := filesOf(t, archive)
		if !slices.Contains(files, p.Bin) || !slices.Contains(files, "LICENSE") {
			t.Errorf("%s has %s, and not %s with the licence", p.URI, files, p.Bin)
		}
	}
}

func filesOf(t *testing.T, archive []byte) (names []string) {
	t.Helper()
	text, err := gzip.NewReader(bytes.NewReader(archive))
	must(t, err)
	all := tar.NewReader(text)
	for {
		file, err := all.Next()
		if err == io.EOF {
			return names
		}
		must(t, err)
		names = append(names, file.Name)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
