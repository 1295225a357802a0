package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Files of testdata/commands.
const (
	compared  = "testdata/commands/compared.yaml"
	drainable = "testdata/commands/drainable.yaml"
)

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	testkit.Must(t, err)
	return string(text)
}

// here runs a command to its end.
func here(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), args, &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func compareHere(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	return here(t, append([]string{"compare"}, args...)...)
}

// refused fails unless a command ends without a result for each of some arguments, says why in its last line,
// and has scheduled nothing before.
func refused(t *testing.T, command string, mistakes map[string][]string) {
	t.Helper()
	for want, args := range mistakes {
		status, out, errOut := here(t, append(strings.Fields(command), args...)...)
		lines := strings.Split(strings.TrimSpace(errOut), "\n")
		if status != statusNone || out != "" || !strings.Contains(lines[len(lines)-1], want) || strings.Contains(errOut, ": schedules") {
			t.Errorf("%s %v: want %q, got status %d, %q %s", command, args, want, status, errOut, out)
		}
	}
}

// TestCompareHasNoResultIfAnExtenderDoesNotAnswer: nothing listens on port 9 of this machine.
func TestCompareHasNoResultIfAnExtenderDoesNotAnswer(t *testing.T) {
	dir := t.TempDir()
	const config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders: [{urlPrefix: \"http://127.0.0.1:9\", filterVerb: filter, ignorable: %t}]\n"
	for _, ignorable := range []bool{false, true} {
		b := writeFile(t, dir, "b.yaml", fmt.Sprintf(config, ignorable))
		status, _, errOut := compareHere(t, "--cluster", compared, "--a", "none", "--b", b)
		if status != statusNone || !strings.Contains(errOut, b+": extender http://127.0.0.1:9 did not answer: ") {
			t.Errorf("status %d: %s", status, errOut)
		}
	}
}

// loads is a side on which each node has a pod's share of its CPU.
func loads(t *testing.T, dir, name string, on ...string) string {
	t.Helper()
	r := &side.Result{Format: side.Format, Name: name, Mode: side.All}
	for _, node := range []string{"one", "two"} {
		r.Nodes = append(r.Nodes, side.Node{Name: node, Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("4")}, Today: true})
	}
	for i, node := range on {
		r.Pods = append(r.Pods, &side.Pod{
			Namespace: "default", Name: fmt.Sprint("pod-", i), Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")},
			Outcome: side.Outcome{Node: node, State: "Scheduled", Attempts: 1},
		})
	}
	path := filepath.Join(dir, name)
	testkit.Must(t, r.Write(path))
	return path
}

func TestFailOnChoosesWhatIsAFailure(t *testing.T) {
	dir := t.TempDir()
	even, packed, lost, other := loads(t, dir, "even", "one", "two"), loads(t, dir, "packed", "one", "one"), loads(t, dir, "lost", "one", ""), loads(t, dir, "other", "two", "one")
	for _, test := range []struct {
		a, b, on string
		status   int
		says     string
	}{
		{even, packed, "lost", 0, ""},
		{even, packed, "moved", statusLost, "1 pod moves under B"},
		{even, packed, "spread", statusLost, "imbalance of cpu is larger under B: 0.0 % under A, 25.0 % under B"},
		{packed, even, "spread", 0, ""},
		{even, lost, "lost", statusLost, "1 pod has a node under A and none under B"},
		{even, lost, "moved", 0, ""},
		{even, lost, "none", 0, ""},
		{even, other, "lost,moved", statusLost, "2 pods move under B"},
		{even, other, "spread", 0, ""},
	} {
		status, out, errOut := compareHere(t, test.a, test.b, "--fail-on", test.on, "-o", "markdown")
		says := strings.TrimSuffix(strings.TrimPrefix(errOut, "simulator: "), "\n")
		if status != test.status || says != test.says {
			t.Errorf("%s against %s, on %s: status %d, %q\n%s", filepath.Base(test.a), filepath.Base(test.b), test.on, status, says, out)
		}
	}
}
