package tools

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"sigs.k8s.io/yaml"
)

// TestChartIsPackedAndPushed does both with Helm's own program, pulls it from the
// registry, and renders it.
func TestChartIsPackedAndPushed(t *testing.T) {
	if _, err := os.Stat("../bin/helm"); err != nil {
		notTested(t, "no bin/helm: make helm builds it, where its modules are served")
	}
	first, second := packChart(t), packChart(t)
	a, b := contentOf(t, first), contentOf(t, second)
	if !bytes.Equal(a, b) {
		t.Errorf("two archives of %d and %d bytes differ", len(a), len(b))
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	charts := strings.Replace(server.URL, "http:", "oci:", 1) + "/charts"
	runHelm(t, "push", first, charts, "--plain-http")
	rendered := runHelm(t, "template", "r", charts+"/regex-scheduling", "--version=9.8.7", "--plain-http", "--kube-version=1.35")
	for _, image := range []string{"registry.example/mine/scheduler:v9.8.7-kubernetes-1.35", "registry.example/mine/static-webserver:v9.8.7\n"} {
		if !strings.Contains(rendered, "image: "+image) {
			t.Errorf("no image %s in\n%s", image, rendered)
		}
	}
}

// TestChartHasArtifactHubsAnnotations wants texts of YAML, as its annotations are.
func TestChartHasArtifactHubsAnnotations(t *testing.T) {
	if _, err := os.Stat("../bin/helm"); err != nil {
		t.Skip("*** NOT TESTED: there is no bin/helm: make helm builds it, where its modules are served")
	}
	var chart struct {
		Icon, Home, Version string
		Sources, Keywords   []string
		Maintainers         []struct{ Name string }
		Annotations         map[string]string
	}
	must(t, yaml.Unmarshal([]byte(runHelm(t, "show", "chart", packChart(t))), &chart))
	type change struct{ Kind, Description string }
	var changes []change
	must(t, yaml.UnmarshalStrict([]byte(chart.Annotations["artifacthub.io/changes"]), &changes))
	want := []change{{"added", "A \"thing\": `a\\b`, on two lines."}, {"added", "Another"}, {"fixed", "**Bold**"}}
	if !slices.Equal(changes, want) {
		t.Errorf("the changes are %q, want %q", changes, want)
	}
	var images []struct {
		Name, Image string
		Platforms   []string
	}
	must(t, yaml.UnmarshalStrict([]byte(chart.Annotations["artifacthub.io/images"]), &images))
	var got []string
	for _, image := range images {
		got = append(got, image.Name+" "+image.Image+" "+strings.Join(image.Platforms, " "))
	}
	const both = " linux/amd64 linux/arm64"
	wantImages := []string{
		"extender registry.example/mine/extender:v9.8.7" + both, "static-webserver registry.example/mine/static-webserver:v9.8.7" + both,
		"scheduler registry.example/mine/scheduler:v9.8.7" + both, "scheduler-kubernetes-1.35 registry.example/mine/scheduler:v9.8.7-kubernetes-1.35" + both,
		"scheduler-kubernetes-1.37 registry.example/mine/scheduler:v9.8.7-kubernetes-1.37" + both,
	}
	if !slices.Equal(got, wantImages) {
		t.Errorf("the images are %q, want %q", got, wantImages)
	}
	if chart.Annotations["artifacthub.io/prerelease"] != "" || chart.Home == "" || chart.Icon == "" || len(chart.Maintainers) == 0 || len(chart.Keywords) == 0 {
		t.Errorf("%+v", chart)
	}
}

// packChart packs a chart whose files are new.
func packChart(t *testing.T) (file string) {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "CHANGES.md"), []byte("Introduction.\n\n### Added\n\n- A \"thing\": `a\\b`,\n  on two lines.\n- Another\n\nNo entry.\n\n### Fixed\n\n- **Bold**\n"))
	if said, err := exec.CommandContext(t.Context(), "./chart.sh", "v9.8.7", "registry.example/mine", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return filepath.Join(folder, "regex-scheduling-9.8.7.tgz")
}

func contentOf(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	return content
}

func runHelm(t *testing.T, args ...string) (said string) {
	t.Helper()
	helm := exec.CommandContext(t.Context(), "../bin/helm", args...)
	helm.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := helm.CombinedOutput()
	if err != nil {
		t.Fatalf("helm %q: %v\n%s", args, err, out)
	}
	return string(out)
}
