// Package examples has a folder for each way to write a guest (docs/guests.md), one for
// compiled-in plugins, and one with a cluster for the simulator. Its tests run the commands of
// the READMEs.
package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/guestcommand"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// asGuest makes the test binary act as bin/guest.
const asGuest = "TEST_AS_GUEST"

func TestMain(m *testing.M) {
	if os.Getenv(asGuest) != "" {
		os.Exit(guestcommand.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestEachExampleDoesWhatItsREADMESays runs the commands of each README in a copy of
// its folder: build the guest, and run it on nodes.
func TestEachExampleDoesWhatItsREADMESays(t *testing.T) {
	for folder, needs := range map[string]struct{ program, environment string }{
		"go-filter": {"go", "REPO=" + absolute(t, "..")},
		"go-score":  {"go", "REPO=" + absolute(t, "..")},
		"go-pod":    {"go", "REPO=" + absolute(t, "..")},
		"pack":      {"go", "REPO=" + absolute(t, "..")},
		// With the flags of the Makefile, or Kubernetes is compiled once more.
		"own-plugins": {"go", "REPO=" + absolute(t, "..")},
		"rust":        {"/usr/bin/rustc", "REPO=" + absolute(t, "..")},
		"tinygo":      {"tinygo", "TARGET=" + absolute(t, "../tools/guest.json")},
		"wat":         {"wat2wasm", ""},
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			testkit.Needs(t, needs.program, "make tools languages installs it (Debian)")
			if folder == "own-plugins" && os.Getenv("NIGHTLY") == "" {
				t.Skip("set NIGHTLY=1 to link Kubernetes twice: make test-nightly")
			}
			readAll(t, "../guest") // which go reads: a result is cached until they change
			dir := t.TempDir()
			testkit.Must(t, os.CopyFS(dir, os.DirFS(folder)))
			var said string
			for _, line := range lines(t, filepath.Join(dir, "README.md"), "    ") {
				said = run(t, dir, needs.environment, line)
			}
			for _, line := range lines(t, filepath.Join(dir, "README.md"), "> ") {
				for part := range strings.SplitSeq(strings.TrimSpace(line), " · ") {
					if !strings.Contains(said, part) {
						t.Errorf("by the README, the last command says %q: %s", part, said)
					}
				}
			}
		})
	}
}

// readAll reads the files of a folder.
func readAll(t testing.TB, folder string) {
	t.Helper()
	testkit.Must(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			_, err = os.ReadFile(path)
		}
		return err
	}))
}

// lines are the lines of a README with a prefix: its commands are indented, and the output of
// the last one is quoted.
func lines(t testing.TB, readme, begin string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	testkit.Must(t, err)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			all = append(all, rest)
		}
	}
	if len(all) < 2 && begin == "    " {
		t.Fatalf("%s has %d commands", readme, len(all))
	}
	return all
}

func run(t testing.TB, dir, environment, line string) string {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(filepath.Join(bin, "guest"), []byte("#!/bin/sh\n"+asGuest+"=1 exec "+self+" \"$@\"\n"), 0o755))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":/usr/bin:"+os.Getenv("PATH"), environment, "GOFLAGS=-buildvcs=false -trimpath", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// TestCommandsOnAClusterFindTheirFiles runs the README of cluster in one shell, with a
// simulator that only checks that its input files exist.
func TestCommandsOnAClusterFindTheirFiles(t *testing.T) {
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(filepath.Join(dir, "examples/cluster"), os.DirFS("cluster")))
	script := filepath.Join(dir, "script")
	testkit.Must(t, os.WriteFile(script, []byte("set -e\n"+strings.Join(lines(t, "cluster/README.md", "    "), "")), 0o600))
	testkit.Must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "bin/simulator"), []byte(onlyLooks), 0o755))
	for _, tool := range []string{"bin/simulator-1.35", "bin/simulator-1.37"} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, tool), nil, 0o755))
	}
	run(t, dir, "KUBECONFIG=/dev/null", "make() { :; }; . "+script)
}

const onlyLooks = `#!/bin/sh
set -e
for arg; do
	case "$last:$arg" in
	--to:*.gz) : > "$arg" ;;
	*:*.yaml | *:*.json | *:*.gz | *:bin/*) test -e "$arg" || { echo "simulator $*: no $arg"; exit 1; } ;;
	esac
	last=$arg
done
`

func absolute(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	testkit.Must(t, err)
	return path
}
