package tools

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// TestChartIsPackedAndPushed does both with Helm's own program, pulls it from the
// registry, and renders it.
func TestChartIsPackedAndPushed(t *testing.T) {
	if _, err := os.Stat("../bin/helm"); err != nil {
		t.Skip("*** NOT TESTED: there is no bin/helm: make helm builds it, where its modules are served")
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

// packChart packs a chart whose files are new.
func packChart(t *testing.T) (file string) {
	t.Helper()
	folder := t.TempDir()
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
