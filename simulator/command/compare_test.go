package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
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
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// whole adds to an export an empty list of each kind without a field, as of a cluster that has no such objects.
func whole(export string) string {
	for field := range reflect.TypeFor[snapshot.Snapshot]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Type.Kind() == reflect.Slice && field.Name != "SchedulerConfig" && !strings.Contains("\n"+export, "\n"+name+":") {
			export = name + ": []\n" + export
		}
	}
	return export
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

func TestCompareExitStatusReportsLostPods(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", comparedCluster)
	status, out, errOut := compareHere(t, "--cluster", cluster, "--a", "none", "--b", "v2", "-o", "json")
	var result compare.Result
	err := json.Unmarshal([]byte(out), &result)
	if err != nil || status != statusLost {
		t.Fatalf("status %d, %v: %s %s", status, err, out, errOut)
	}
	if len(result.Differences) != 1 || result.Differences[0].Name != "picky" || !strings.Contains(errOut, "simulator: 1 pod has a node under A and none under B") {
		t.Errorf("%+v, %s", result.Differences, errOut)
	}
	status, out, errOut = compareHere(t, "--cluster", cluster, "--a", "v2", "--b", "none", "--details", "--fail-on", "lost,moved")
	if status != 0 || !regexp.MustCompile(`default/picky +only under B +- +node-1`).MatchString(out) {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
}

// TestCompareHasNoResultIfAnExtenderDoesNotAnswer: nothing listens on port 9 of this machine.
func TestCompareHasNoResultIfAnExtenderDoesNotAnswer(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", comparedCluster)
	const config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders: [{urlPrefix: \"http://127.0.0.1:9\", filterVerb: filter, ignorable: %t}]\n"
	for _, ignorable := range []bool{false, true} {
		b := writeFile(t, dir, "b.yaml", fmt.Sprintf(config, ignorable))
		status, _, errOut := compareHere(t, "--cluster", cluster, "--a", "none", "--b", b)
		if status != statusNone || !strings.Contains(errOut, b+": extender http://127.0.0.1:9 did not answer: ") {
			t.Errorf("status %d: %s", status, errOut)
		}
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
	v2, err := simulator.SchedulerConfig("v2")
	testkit.Must(t, err)
	guest := writeFile(t, dir, "guest.yaml", strings.ReplaceAll(string(v2), "regex_v2", "regex_v9"))
	refused(t, "compare --a none --b v2", map[string][]string{
		"--cluster or --kubeconfig is missing":   nil,
		"--cluster and --kubeconfig: choose one": {"--cluster", cluster, "--kubeconfig", "x"},
		"--kubeconfig " + none + ": ":            {"--kubeconfig", none},
		"--cluster " + none + ": ":               {"--cluster", none},
		"--cluster " + half + ": ":               {"--cluster", half},
		"--context, --only-nodes and --annotation are about the cluster of --kubeconfig": {"--cluster", cluster, "--only-nodes", "x=y"},
	})
	refused(t, "compare --cluster "+cluster, map[string][]string{
		"--b is missing": {"--a", "none"},
		"--b v3: there is no such file, and no such plugin variant": {"--a", "none", "--b", "v3"},
		"--b " + empty + ": the configuration is empty":             {"--a", "none", "--b", empty},
		"--a x: there is no such file, and no such plugin variant: use v1, v2, native, extender, extender-names, none; presets are aks, aks:MostAllocated, aks:RequestedToCapacityRatio, eks, eks:LeastAllocated, eks:MostAllocated; --b y: there is": {
			"--a", "x", "--b", "y",
		},
		"--a " + misspelt + `: line 2: profiles[0].schedulername: unknown field: do you mean "schedulerName"?`: {"--a", misspelt, "--b", "v2"},
		"--b " + gone + ": line 6: plugin Gone: profile default-scheduler enables it":                          {"--a", "v2", "--b", gone},
		"--b " + guest + ": line 12: plugin WasmRegexScheduling: guest http://static-webserver/regex_v9.wasm":  {"--a", "v2", "--b", guest},
		`do you mean "schedulerName"?; --b ` + gone + ": line 6: ":                                             {"--a", misspelt, "--b", gone},
		`invalid argument "text" for "-o, --output" flag: use html, json, markdown or table`:                   {"-o", "text"},
		`invalid argument "some" for "--pods" flag: use pending or all`:                                        {"--pods", "some"},
		"--scenario " + steps + ": line 2: ":                                                                   {"--a", "none", "--b", "v2", "--scenario", steps},
		"delete[0]: an object needs apiVersion, kind and":                                                      {"--a", "none", "--b", "v2", "--scenario", nameless},
		"unknown flag: --runs": {"--runs", "2"},
		`--fail-on: invalid value "worse": use lost, moved, spread, none`:                       {"--fail-on", "lost,worse"},
		"--fail-on none cannot be combined":                                                     {"--fail-on", "none", "--fail-on", "lost"},
		"there are 2 --b-simulator for 1 --b":                                                   {"--a", "none", "--b", "v2", "--b-simulator", "x", "--b-simulator", "y"},
		"--b eks:RequestedToCapacityRatio: there is no such file, and no such plugin variant: ": {"--a", "eks", "--b", "eks:RequestedToCapacityRatio"},
	})
}

// healthyCluster has a node for every pod.
var healthyCluster = strings.ReplaceAll(comparedCluster, "spec: {", "spec: {nodeName: node-1, ")

func TestCompareWithoutAResultHasExitStatusTwo(t *testing.T) {
	dir := t.TempDir()
	healthy := writeFile(t, dir, "healthy.yaml", healthyCluster)
	gated := writeFile(t, dir, "gated.yaml", healthyCluster+`
- metadata: {name: gated, namespace: default}
  spec: {schedulingGates: [{name: example.com/later}], containers: [{name: c, image: c}]}
`)
	refused(t, "compare -q --a none --b v2", map[string][]string{
		"simulator: nothing to compare: the scheduler tried no pod; --pods all reschedules pods that have a node, too": {"--cluster", healthy},
	})
	refused(t, "compare -q --a none --b v2", map[string][]string{
		"simulator: nothing to compare: the scheduler tried no pod; pod default/gated: it has scheduling gates; --pods all": {"--cluster", gated},
	})
}

func TestCompareOfSeveralConfigurationsIsOneTable(t *testing.T) {
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", comparedCluster)
	args := []string{"--cluster", cluster, "--a", "none", "--b", "v2", "--b", "none"}
	status, out, errOut := compareHere(t, args...)
	if status != statusLost || !strings.HasSuffix(errOut, "simulator: 1 pod has a node under A and none under v2\n") {
		t.Errorf("status %d: %s", status, errOut)
	}
	for _, want := range []string{
		`(?m)^ +TODAY +A: none +B1: v2 +B2: none$`, `(?m)^B1 +0 +1 .*\nB2 +0 +0 .*$`, `(?m)^nodes used, empty +0, 1 +1, 0 +1, 0 +1, 0$`,
		`^2 configurations compared with none \(A\)\.\n\n1 pod would no longer have a node if the scheduler had the configuration v2 \(B1\) in place of none \(A\)\.\nNothing would change for the \d pending pods? if .* none \(B2\) in place of none \(A\)\.\n\n`,
		`Tried in memory on a copy of cluster.yaml, under none .A. and v2 .B1. and none .B2., with seed 1`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the table lacks %s:\n%s", want, out)
		}
	}
	_, out, _ = compareHere(t, append(args, "-o", "json")...)
	var results []compare.Result
	err := json.Unmarshal([]byte(out), &results)
	if err != nil || len(results) != 2 || results[0].B != "v2" || results[0].Counts.OnlyA != 1 || results[1].Counts.OnlyA != 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// A snapshot that lacks what pods need leaves them without a node under any configuration.
func TestCompareReportsRunningPodsThatAreUnschedulableUnderA(t *testing.T) {
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", whole(healthyCluster+`
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
`))
	args := []string{"--cluster", cluster, "--a", "none", "--b", "native", "--pods", "all"}
	status, out, errOut := compareHere(t, args...)
	const sentence = "2 pods run in the cluster and have no node under A: default/db, small/refused; "
	if status != statusNone || !strings.Contains(errOut, "simulator: "+sentence) || !strings.Contains(errOut, "--accept-unplaced") {
		t.Errorf("status %d: %s", status, errOut)
	}
	for _, want := range []string{
		`^A leaves 2 running pods pending, which makes this unreliable\. .* \(A\)\. Applying a configuration moves no running pod\.\n`, `\nRunning pods that are pending under A:\n`,
		`\ndefault/db +.*persistentvolumeclaim "not-in-the-file" not found`, `\nsmall/refused +.*maximum cpu usage per Container is 100m`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the table lacks %s:\n%s", want, out)
		}
	}
	status, out, errOut = compareHere(t, append(args, "--accept-unplaced", "-o", "json")...)
	var result struct {
		Unplaced, Pending, Differences []compare.Difference
		Counts                         compare.Counts
	}
	err := json.Unmarshal([]byte(out), &result)
	if err != nil || status != statusLost { // by picky
		t.Fatalf("status %d, %v: %s %s", status, err, out, errOut)
	}
	if len(result.Unplaced) != 2 || result.Unplaced[0].Name != "db" || len(result.Pending) != 0 || len(result.Differences) != 1 || result.Counts.Pending != 0 {
		t.Errorf("%+v", result)
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
