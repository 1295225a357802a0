// Package examples has a folder for each way to write a guest (docs/guests.md), one
// for plugins that are compiled in, and one with a cluster to try things on. Its test does
// what the READMEs of those say that have something to build.
package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/command"
)

// asGuest has the test binary be bin/guest.
const asGuest = "TEST_AS_GUEST"

func TestMain(m *testing.M) {
	if os.Getenv(asGuest) != "" {
		os.Exit(command.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestEachExampleDoesWhatItsREADMESays runs the commands of each README in a copy of
// its folder: build it, and ask it about nodes.
func TestEachExampleDoesWhatItsREADMESays(t *testing.T) {
	for folder, needs := range map[string]struct{ program, environment string }{
		"go-filter": {"go", ""},
		"go-score":  {"go", ""},
		"go-pod":    {"go", ""},
		// With the flags of the Makefile, or Kubernetes is compiled once more.
		"own-plugins": {"go", "REPO=" + absolute(t, "..")},
		"rust":        {"/usr/bin/rustc", "RUSTFLAGS=-C linker=wasm-ld"},
		"tinygo":      {"tinygo", "TARGET=" + absolute(t, "../tools/guest.json")},
		"wat":         {"wat2wasm", ""},
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(needs.program); err != nil {
				t.Skipf("NOT TRIED: no %s here: %v", needs.program, err)
			}
			dir := t.TempDir()
			switch must(t, os.CopyFS(dir, os.DirFS(folder))); folder {
			case "go-pod": // which is of our module
				dir = absolute(t, folder)
				t.Cleanup(func() { os.Remove(filepath.Join(dir, "pod.wasm")) })
			case "go-filter", "go-score":
				run(t, dir, "", "go mod edit -replace wasmkwokwizardry.io/regex-scheduling/guest="+absolute(t, "../guest"))
			}
			for _, line := range commands(t, filepath.Join(dir, "README.md")) {
				run(t, dir, needs.environment, line)
			}
		})
	}
}

// commands are the indented lines of a README.
func commands(t *testing.T, readme string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			lines = append(lines, command)
		}
	}
	if len(lines) < 2 {
		t.Fatalf("%s has %d commands", readme, len(lines))
	}
	return lines
}

func run(t *testing.T, dir, environment, line string) {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(bin, "guest"), []byte("#!/bin/sh\n"+asGuest+"=1 exec "+self+" \"$@\"\n"), 0o755))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":/usr/bin:"+os.Getenv("PATH"), environment, "GOFLAGS=-buildvcs=false -trimpath", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	must(t, err)
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
