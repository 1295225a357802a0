package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

const comparedCluster = `
nodes:
- metadata: {name: node-1}
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}, capacity: {cpu: "4", memory: 8Gi, pods: "10"}}
pods:
- metadata: {name: picky, namespace: default, annotations: {scheduler.wasmkwokwizardry.io/regex: '^gpu-'}}
  spec: {containers: [{name: c, image: c}]}
- metadata: {name: first, namespace: default}
  spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "3"}}}]}
`

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// compareHere runs the command to its end.
func compareHere(ctx context.Context, args ...string) (status int, out, errOut string) {
	var stdout, stderr bytes.Buffer
	status = run(ctx, append([]string{"compare"}, args...), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func TestTheExitStatusOfCompareReportsLostPods(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", comparedCluster)
	status, out, errOut := compareHere(t.Context(), "--cluster", cluster, "--a", "none", "--b", "v2", "-o", "json")
	var result compare.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil || status != statusLost {
		t.Fatalf("status %d, %v: %s %s", status, err, out, errOut)
	}
	if len(result.Differences) != 1 || result.Differences[0].Name != "picky" || !strings.Contains(errOut, "simulator: 1 pod has a node under A and none under B") {
		t.Errorf("%+v, %s", result.Differences, errOut)
	}
	status, out, errOut = compareHere(t.Context(), "--cluster", cluster, "--a", "v2", "--b", "none", "--details", "--fail-on", "lost,moved")
	if status != 0 || !regexp.MustCompile(`default/picky +only under B +- +node-1`).MatchString(out) {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
}

func TestCompareReportsMistakesBeforeItStartsAnything(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", comparedCluster)
	half := writeFile(t, dir, "half.yaml", comparedCluster[:strings.LastIndex(comparedCluster, "  spec")])
	none, empty := filepath.Join(dir, "none"), writeFile(t, dir, "empty.yaml", "")
	steps := writeFile(t, dir, "steps.yaml", "steps:\n- creates: []\n")
	misspelt := writeFile(t, dir, "misspelt.yaml", "profiles:\n- schedulername: mine\n")
	gone := writeFile(t, dir, "gone.yaml", "profiles:\n- pluginConfig: []\n  plugins:\n    filter:\n      enabled:\n      - name: Gone\n")
	nameless := writeFile(t, dir, "nameless.yaml", "steps: [{delete: [{kind: Pod, apiVersion: v1}]}]")
	for want, args := range map[string][]string{
		"--cluster or --kubeconfig is missing":   {"--a", "none", "--b", "v2"},
		"--cluster and --kubeconfig: choose one": {"--a", "none", "--b", "v2", "--cluster", cluster, "--kubeconfig", "x"},
		"--kubeconfig " + none + ": ":            {"--a", "none", "--b", "v2", "--kubeconfig", none},
		"--context, --only-nodes and --annotation are about the cluster of --kubeconfig": {
			"--a", "none", "--b", "v2", "--cluster", cluster, "--only-nodes", "x=y",
		},
		"--b is missing":           {"--a", "none", "--cluster", cluster},
		"--cluster " + none + ": ": {"--a", "none", "--b", "v2", "--cluster", none},
		"--cluster " + half + ": ": {"--a", "none", "--b", "v2", "--cluster", half},
		"--b v3: there is no such file, and no such plugin variant": {"--a", "none", "--b", "v3", "--cluster", cluster},
		"--b " + empty + ": the configuration is empty": {
			"--a", "none", "--b", empty, "--cluster", cluster,
		},
		"--a x: there is no such file, and no such plugin variant: use v1, v2, native, extender, extender-names, none; presets are aks, aks:MostAllocated, aks:RequestedToCapacityRatio, eks, eks:LeastAllocated, eks:MostAllocated; --b y: there is": {
			"--a", "x", "--b", "y", "--cluster", cluster,
		},
		"--a " + misspelt + `: line 2: profiles[0].schedulername: unknown field: do you mean "schedulerName"?`: {
			"--a", misspelt, "--b", "v2", "--cluster", cluster,
		},
		"--b " + gone + ": line 6: plugin Gone: profile default-scheduler enables it":        {"--a", "v2", "--b", gone, "--cluster", cluster},
		`do you mean "schedulerName"?; --b ` + gone + ": line 6: ":                           {"--a", misspelt, "--b", gone, "--cluster", cluster},
		`invalid argument "text" for "-o, --output" flag: use html, json, markdown or table`: {"--a", "none", "--b", "v2", "--cluster", cluster, "-o", "text"},
		`invalid argument "some" for "--pods" flag: use pending or all`:                      {"--a", "none", "--b", "v2", "--cluster", cluster, "--pods", "some"},
		"--scenario " + steps + ": line 2: ":                                                 {"--a", "none", "--b", "v2", "--cluster", cluster, "--scenario", steps},
		"delete[0]: an object needs apiVersion, kind and":                                    {"--a", "none", "--b", "v2", "--cluster", cluster, "--scenario", nameless},
		"unknown flag: --c": {"--c"},
		`--fail-on: invalid value "worse": use lost, moved, spread, none`: {"a.json", "b.json", "--fail-on", "lost,worse"},
		"--fail-on none cannot be combined":                               {"a.json", "b.json", "--fail-on", "none", "--fail-on", "lost"},
		"unknown flag: --runs":                                            {"--a", "none", "--b", "v2", "--cluster", cluster, "--runs", "2"},
		"there are 2 --b-simulator for 1 --b":                             {"--a", "none", "--b", "v2", "--cluster", cluster, "--b-simulator", "x", "--b-simulator", "y"},
	} {
		status, out, errOut := compareHere(t.Context(), args...)
		lines := strings.Split(strings.TrimSpace(errOut), "\n")
		if strings.Contains(errOut, "schedules") {
			t.Errorf("want %q, and before it anything is started: %s", want, errOut)
		}
		if last := lines[len(lines)-1]; status != statusNone || out != "" || !strings.Contains(last, want) {
			t.Errorf("want %q, got status %d, %q", want, status, errOut)
		}
	}
}

func TestCompareEndsSoonAfterASignal(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", comparedCluster)
	var out bytes.Buffer
	says := writerFunc(func(text []byte) (int, error) {
		if bytes.Contains(text, []byte("A: schedules, 1 of 2")) {
			cancel()
		}
		return out.Write(text)
	})
	if status := run(ctx, []string{"compare", "--cluster", cluster, "--a", "none", "--b", "v2"}, says, says); status != statusNone {
		t.Errorf("it ended with %d: %s", status, &out)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestTheJobOfTheDocsDoesWhatItSays runs the commands of docs/compare.md.
func TestTheJobOfTheDocsDoesWhatItSays(t *testing.T) {
	text, err := os.ReadFile("../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	if block == nil || yaml.Unmarshal(block[1], &workflow) != nil {
		t.Fatal("there is no job in the docs")
	}
	var commands []string
	for _, step := range workflow.Jobs["compare"].Steps {
		if step.Run != "" {
			commands = append(commands, step.Run)
		}
	}
	if len(commands) != 3 || commands[2] != `gh pr comment "$PULL_REQUEST" --body-file comment.md` {
		t.Fatalf("the job runs %q", commands)
	}
	dir := t.TempDir()
	writeFile(t, dir, "cluster.yaml", healthyCluster)
	config := func(variant string) string {
		scheduler, err := readScheduler("--a", variant)
		if err != nil {
			t.Fatal(err)
		}
		return string(scheduler.Config)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	writeFile(t, dir, "scheduler.yaml", config("none"))
	git("add", ".")
	git("commit", "-qm", "before")
	git("update-ref", "refs/remotes/origin/main", "HEAD")
	writeFile(t, dir, "scheduler.yaml", config("v2"))
	shell := exec.Command("sh", "-e", "-c", commands[0])
	shell.Dir, shell.Env = dir, append(os.Environ(), "GITHUB_BASE_REF=main")
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", commands[0], err, out)
	}
	t.Chdir(dir)
	line, into, _ := strings.Cut(commands[1], " > ")
	args := strings.Fields(line)
	if args[0] != "simulator" || args[1] != "compare" {
		t.Fatalf("the job runs %q", line)
	}
	status, out, errOut := compareHere(t.Context(), args[2:]...)
	if status != statusLost || into != "comment.md" || !strings.HasPrefix(out, "**If the scheduler had the configuration scheduler.yaml (B) in place of before.yaml (A), 1 pod would lose its node.**\n") || !strings.Contains(out, "picky") {
		t.Errorf("status %d: %s %s", status, errOut, out)
	}
}

// healthyCluster has a node for every pod.
var healthyCluster = strings.ReplaceAll(comparedCluster, "spec: {", "spec: {nodeName: node-1, ")

func TestWithoutAComparisonTheExitStatusIsTwo(t *testing.T) {
	dir := t.TempDir()
	healthy := writeFile(t, dir, "healthy.yaml", healthyCluster)
	gated := writeFile(t, dir, "gated.yaml", healthyCluster+`
- metadata: {name: gated, namespace: default}
  spec: {schedulingGates: [{name: example.com/later}], containers: [{name: c, image: c}]}
`)
	for want, args := range map[string][]string{
		"simulator: nothing to compare: no pod of the cluster is pending; --pods all reschedules those that have a node\n": {
			"--cluster", healthy,
		},
		"simulator: nothing to compare: the scheduler tried no pod; pod default/gated: it has scheduling gates; --pods all": {
			"--cluster", gated,
		},
	} {
		status, out, errOut := compareHere(t.Context(), append([]string{"--a", "none", "--b", "v2"}, args...)...)
		if status != statusNone || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("want %q, got status %d: %s %s", want, status, out, errOut)
		}
		if strings.Contains(errOut, ": schedules") && args[1] == healthy {
			t.Errorf("something was scheduled for nothing: %s", errOut)
		}
	}
}

func TestSeveralConfigurationsAreComparedInOneTable(t *testing.T) {
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", comparedCluster)
	args := []string{"--cluster", cluster, "--a", "none", "--b", "v2", "--b", "none"}
	status, out, errOut := compareHere(t.Context(), args...)
	if status != statusLost || !strings.HasSuffix(errOut, "simulator: 1 pod has a node under A and none under v2\n") {
		t.Errorf("status %d: %s", status, errOut)
	}
	for _, want := range []string{
		`(?m)^ +TODAY +A: none +B1: v2 +B2: none$`, `(?m)^B1 +1 .*\nB2 +0 .*$`, `(?m)^nodes used, empty +0, 1 +1, 0 +1, 0 +1, 0$`,
		`^2 configurations compared with none \(A\)\.\n\nIf the scheduler had the configuration v2 \(B1\) in place of none \(A\), 1 pod would lose its node\.\nIf .* none \(B2\) in place of none \(A\), every pod would have the same node, or stay pending\.\n\n`,
		`Tried in memory on a copy of cluster.yaml, with seed 1`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the table lacks %s:\n%s", want, out)
		}
	}
	_, out, _ = compareHere(t.Context(), append(args, "-o", "json")...)
	var results []compare.Result
	if err := json.Unmarshal([]byte(out), &results); err != nil || len(results) != 2 || results[0].B != "v2" || results[0].Counts.OnlyA != 1 || results[1].Counts.OnlyA != 0 {
		t.Errorf("%v: %s", err, out)
	}
	_, out, _ = compareHere(t.Context(), append(args, "-o", "markdown")...)
	want := "\n\n|  | TODAY | A: none | B1: v2 | B2: none |\n|---|---|---|---|---|\n| nodes used, empty | 0, 1 | 1, 0 | 1, 0 | 1, 0 |\n"
	if !strings.HasPrefix(out, "**2 configurations compared with none (A).**\n\n- If the scheduler ") || !strings.Contains(out, want) {
		t.Errorf("not %q:\n%s", want, out)
	}
	_, out, _ = compareHere(t.Context(), append(args, "--details")...)
	if strings.Count(out, "Time per pod") != 2 {
		t.Error(out)
	}
}

// A snapshot that lacks what pods need leaves them without a node under any configuration.
func TestRunningPodsThatAreUnschedulableUnderAAreAMistakeOfTheCopy(t *testing.T) {
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", healthyCluster+`
- metadata: {name: db, namespace: default}
  spec:
    nodeName: node-1
    containers: [{name: c, image: c}]
    volumes: [{name: data, persistentVolumeClaim: {claimName: not-in-the-file}}]
- metadata: {name: refused, namespace: small}
  spec: {nodeName: node-1, priority: 0, containers: [{name: c, image: c, resources: {limits: {cpu: 200m}, requests: {cpu: 200m}}}]}
limitRanges: # younger than the pod
- metadata: {name: limit, namespace: small}
  spec: {limits: [{type: Container, max: {cpu: 100m}}]}
`)
	args := []string{"--cluster", cluster, "--a", "none", "--b", "native", "--pods", "all"}
	status, out, errOut := compareHere(t.Context(), args...)
	const sentence = "2 pods run in the cluster and have no node under A: default/db, small/refused; "
	if status != statusNone || !strings.Contains(errOut, "simulator: "+sentence) || !strings.Contains(errOut, "--accept-unplaced") {
		t.Errorf("status %d: %s", status, errOut)
	}
	for _, want := range []string{
		`verdict +2 running pods are pending under A`, `\nRunning pods that are pending under A:\n`,
		`\ndefault/db +.*persistentvolumeclaim "not-in-the-file" not found`, `\nsmall/refused +.*maximum cpu usage per Container is 100m`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the table lacks %s:\n%s", want, out)
		}
	}
	status, out, errOut = compareHere(t.Context(), append(args, "--accept-unplaced", "-o", "json")...)
	var result struct {
		Unplaced, Pending, Differences []compare.Difference
		Counts                         compare.Counts
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || status != statusLost { // by picky
		t.Fatalf("status %d, %v: %s %s", status, err, out, errOut)
	}
	if len(result.Unplaced) != 2 || result.Unplaced[0].Name != "db" || len(result.Pending) != 0 || len(result.Differences) != 1 || result.Counts.Pending != 0 {
		t.Errorf("%+v", result)
	}
}

func TestCompareReadsAClusterThatRuns(t *testing.T) {
	dir := t.TempDir()
	const stuck = "- {metadata: {name: stuck, namespace: default}, spec: {nodeSelector: {no: such}, containers: [{name: c, image: c}]}}\n"
	file, kubeconfig := writeFile(t, t.TempDir(), "cluster.yaml", healthyCluster+stuck), filepath.Join(dir, "kubeconfig")
	session(t, []string{"--from", file, "--data-dir", dir}, func(string) {
		status, out, errOut := compareHere(t.Context(), "--kubeconfig", kubeconfig, "--a", "none", "--b", "v2", "--pods", "all", "--details")
		if status != statusLost || !regexp.MustCompile(`default/picky +only under A +node-1`).MatchString(out) || !strings.Contains(errOut, "reads pods, 3\n") {
			t.Errorf("status %d: %s %s", status, out, errOut)
		}
		status, out, errOut = here(t.Context(), "why", "stuck", "--kubeconfig", kubeconfig, "--config", "v2")
		if status != statusLost || !regexp.MustCompile(`^Pod default/stuck is pending because (?s).* didn't match Pod's node affinity/selector.*on a copy of \S+ \(https://127.0.0.1:\d+\), as it was on .* under v2, `).MatchString(out) {
			t.Errorf("status %d: %s %s", status, out, errOut)
		}
	})
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
	if err := r.Write(path); err != nil {
		t.Fatal(err)
	}
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
		{even, packed, "spread", statusLost, "imbalance of CPU is larger under B: 0.0 % under A, 25.0 % under B"},
		{packed, even, "spread", 0, ""},
		{even, lost, "lost", statusLost, "1 pod has a node under A and none under B"},
		{even, lost, "moved", 0, ""},
		{even, lost, "none", 0, ""},
		{even, other, "lost,moved", statusLost, "2 pods move under B"},
		{even, other, "spread", 0, ""},
	} {
		status, out, errOut := compareHere(t.Context(), test.a, test.b, "--fail-on", test.on, "-o", "markdown")
		if says := strings.TrimSuffix(strings.TrimPrefix(errOut, "simulator: "), "\n"); status != test.status || says != test.says {
			t.Errorf("%s against %s, on %s: status %d, %q\n%s", filepath.Base(test.a), filepath.Base(test.b), test.on, status, says, out)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }
