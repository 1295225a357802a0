package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// A folder as kubectl cluster-info dump writes it.
func TestFitReadsAFolderAsACluster(t *testing.T) {
	folder := t.TempDir()
	logs := filepath.Join(folder, "default", "p")
	testkit.Must(t, os.MkdirAll(logs, 0o700))
	writeFile(t, folder, "nodes.json", `{"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": [
		{"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "10"}}}]}`)
	writeFile(t, filepath.Join(folder, "default"), "pods.json", `{"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [
		{"metadata": {"name": "p", "namespace": "default"}, "spec": {"nodeName": "a", "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "1500m"}}}]}}]}`)
	writeFile(t, filepath.Join(folder, "default"), "events.json", `{"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": [
		{"metadata": {"name": "e", "namespace": "default"}}, {"metadata": {"name": "f", "namespace": "default"}}]}`)
	writeFile(t, logs, "logs.txt", "==== START logs\n")
	const small = "testdata/commands/small.yaml"
	status, out, errOut := here(t, "fit", "-f", small, "--cluster", folder)
	if status != statusLost || !strings.Contains(out, "1 Insufficient cpu") || !strings.Contains(out, "(1 file without objects of a cluster: p/logs.txt") || strings.Count(errOut, "notice: 2 v1 Event: skipped") != 1 {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	status, _, errOut = here(t, "fit", "-f", small, "--cluster", logs)
	if status != statusNone || !strings.Contains(errOut, "none of its files has objects of a cluster: logs.txt") {
		t.Errorf("a folder of logs alone: status %d: %s", status, errOut)
	}
}

func TestReadingAClusterFromStandardInput(t *testing.T) {
	var size maxSize
	size.add(pflag.NewFlagSet("", pflag.PanicOnError))
	const text = "nodes:\n- metadata: {name: a}\n"
	s, _, err := readSnapshot(t.Context(), strings.NewReader(text), "-", size)
	if err != nil || len(s.Nodes) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	same, _, err := readSnapshot(t.Context(), nil, writeFile(t, t.TempDir(), "c.yaml", text), size)
	if err != nil || same.Source.Digest != s.Source.Digest {
		t.Errorf("the digest of the same file is %s, not %s: %v", same.Source.Digest, s.Source.Digest, err)
	}
}
