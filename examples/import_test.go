package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestSchedulerOfTheDocumentIsBuilt makes the module of docs/import.md from the
// page's own text, and does what the page says to do with it.
func TestSchedulerOfTheDocumentIsBuilt(t *testing.T) {
	readAll(t, "../plugin")
	readAll(t, "../wasmhost")
	readAll(t, "../fetch")
	dir := filepath.Join(t.TempDir(), "my-scheduler")
	testkit.Must(t, os.Mkdir(dir, 0o755))
	testkit.Must(t, os.Symlink(absolute(t, ".."), filepath.Join(dir, "../regex-scheduling")))
	page := writeFiles(t, string(testkit.ReadFile(t, "../docs/import.md")), dir)
	commands := blocks(page)
	if len(commands) != 2 {
		t.Fatalf("the page has %d blocks of commands, of which this test knows two: %q", len(commands), commands)
	}

	run(t, dir, "", "set -e\n"+commands[0])
	ours := run(t, "..", "", "go list -m -f '{{.Version}}' k8s.io/kubernetes")
	if !strings.Contains(commands[0], "K="+strings.TrimPrefix(ours, "v")) {
		t.Errorf("the page's module has another Kubernetes than ours, %s", ours)
	}

	run(t, dir, "", "set -e\n"+commands[1])
	if os.Getenv("NIGHTLY") != "" { // it looks through all of Kubernetes
		run(t, dir, "", "go vet .")
	}
	testkit.Has(t, string(testkit.ReadFile(t, filepath.Join(dir, "used.yaml"))), "guestURL: file://../regex-scheduling/examples/wat/not_gpu.wasm")

	configuration := filepath.Join(dir, "scheduler.yaml")
	wrong := strings.Replace(string(testkit.ReadFile(t, configuration)), "not_gpu.wasm", "none.wasm", 1)
	testkit.WriteFile(t, configuration, wrong)
	last := commands[1][strings.LastIndex(strings.TrimSpace(commands[1]), "\n")+1:]
	testkit.Has(t, run(t, dir, "", "! "+last), "examples/wat/none.wasm: no such file")
}

// A program with guests of its own needs no client for registries.
func TestHostLinksNothingThatFetches(t *testing.T) {
	for pkg := range strings.Lines(run(t, "..", "", "go list -deps ./wasmhost")) {
		if strings.Contains(pkg, "containerregistry") || strings.Contains(pkg, "regex-scheduling/fetch") {
			t.Errorf("wasmhost needs %s", pkg)
		}
	}
}

// writeFiles writes the files that a page shows below their names, and returns the rest
// of the page.
func writeFiles(t *testing.T, page, dir string) (rest string) {
	t.Helper()
	file := regexp.MustCompile("(?m)^`([a-z.]+)`:\n\n((?:(?:    .*)?\n)+)")
	for _, found := range file.FindAllStringSubmatch(page, -1) {
		testkit.WriteFile(t, filepath.Join(dir, found[1]), unindented(found[2]))
	}
	return file.ReplaceAllString(page, "")
}

// blocks are what of a page is indented.
func blocks(page string) (all []string) {
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(page, -1) {
		all = append(all, unindented(block))
	}
	return all
}

func unindented(block string) string {
	return regexp.MustCompile("(?m)^    ").ReplaceAllString(strings.Trim(block, "\n")+"\n", "")
}
