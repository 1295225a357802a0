// Package examples has a folder for each way to write a guest (docs/guests.md), one for
// compiled-in plugins, and one with a cluster for the simulator. Its tests run the commands of
// the READMEs.
package examples

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/guestcommand"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
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
	text := testkit.ReadFile(t, readme)
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
	testkit.WriteFile(t, script, "set -e\n"+strings.Join(lines(t, "cluster/README.md", "    "), ""))
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

// made is what the script writes.
func made(t *testing.T, nodes, pods string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "awk", "-f", "cluster/cluster.awk", "-v", "nodes="+nodes, "-v", "pods="+pods).Output()
	testkit.Must(t, err)
	return out
}

func read(t *testing.T, file []byte) *snapshot.Snapshot {
	t.Helper()
	s, notices, err := snapshot.Read(bytes.NewReader(file))
	if err != nil || len(notices) > 0 {
		t.Fatalf("%v %v", err, notices)
	}
	return s
}

// Each pod with a node is where its regex lets it run.
func TestClusterHasWhatTheQuestionsNeed(t *testing.T) {
	file := made(t, "60", "300")
	if !bytes.Equal(file, made(t, "60", "300")) {
		t.Error("the same numbers give another file")
	}
	s := read(t, file)
	if len(s.Nodes) != 60 || len(s.Pods) != 300 || len(s.Deployments)+len(s.StatefulSets) != 60 || len(s.PVs) == 0 || len(s.PodDisruptionBudgets) == 0 {
		t.Errorf("%d nodes, %d pods, %d Deployments, %d StatefulSets, %d volumes, %d budgets",
			len(s.Nodes), len(s.Pods), len(s.Deployments), len(s.StatefulSets), len(s.PVs), len(s.PodDisruptionBudgets))
	}
	pending, patterns := 0, 0
	for i := range s.Pods {
		pod := &s.Pods[i]
		rules, err := regex.Default.Compile(pod.Annotations)
		testkit.Must(t, err)
		switch {
		case pod.Spec.NodeName == "":
			pending++
		case rules.Filters() && rules.Judge(pod.Spec.NodeName) == regex.Qualifies:
			patterns++
		case rules.Filters():
			t.Errorf("%s is on %s", pod.Name, pod.Spec.NodeName)
		}
	}
	if pending == 0 || pending > 10 || patterns == 0 {
		t.Errorf("%d pending, %d regexes", pending, patterns)
	}
}

func TestConfigurationsAreGood(t *testing.T) {
	for _, name := range []string{"cluster/least.yaml", "cluster/most.yaml"} {
		config, err := kubescheduler.Read(testkit.ReadFile(t, name))
		testkit.Must(t, err)
		testkit.Equal(t, len(config.Profiles), 1, "profiles of %s", name)
	}
}
