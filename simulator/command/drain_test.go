package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
)

// drainable has a node that can go, and one whose pod only its own node has room for.
const drainable = `
nodes:
- metadata: {name: node-1, labels: {type: small, pool: old}}
  status: {allocatable: &small {cpu: "2", memory: 8Gi, pods: "10"}, capacity: *small}
- metadata: {name: node-2, labels: {type: large}}
  status: {allocatable: &large {cpu: "8", memory: 8Gi, pods: "10"}, capacity: *large}
pods:
- metadata: {name: web-1, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: web, controller: true}]}
  spec: {nodeName: node-1, containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}
- metadata: {name: big-1, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: big, uid: big, controller: true}]}
  spec: {nodeName: node-2, containers: [{name: c, image: c, resources: {requests: {cpu: "6"}}}]}
`

func TestDrainExitStatusReportsUnschedulablePods(t *testing.T) {
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", whole(drainable))
	status, out, errOut := here(t, "drain", "--selector", "pool=old", "--cluster", cluster)
	const tried = "\nTried in memory on a copy of cluster.yaml, under native (default: --cluster has no configuration), with seed 1. Inferred from pods, since the file lacks them: ReplicaSet default/big, ReplicaSet default/web. Webhooks, admission policies, service accounts and autoscalers are not modelled.\n"
	const sum = "Draining node-1 would move 1 pod, and there is a node for it.\n\n1 pod: 1 to another node, 0 unschedulable.\n\n"
	want := sum + "WORKLOAD                 PODS   UNSCHEDULABLE   REASON\nReplicaSet default/web   1      0               \n\n" +
		"POD             FROM     TO       REASON\ndefault/web-1   node-1   node-2   \n" + tried
	if status != 0 || out != want {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	status, out, errOut = here(t, "drain", "-l", "pool=old", "--cluster", cluster, "-o", "markdown")
	want = "**" + strings.Replace(sum, ".\n", ".**\n", 1) + "| WORKLOAD | PODS | UNSCHEDULABLE | REASON |\n|---|---|---|---|\n| ReplicaSet default/web | 1 | 0 |  |\n\n| POD | FROM | TO | REASON |\n|---|---|---|---|\n| default/web-1 | node-1 | node-2 |  |\n" + tried
	if status != 0 || out != want {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	status, out, errOut = here(t, "drain", "--pod-selector", "app=web", "--cluster", writeFile(t, t.TempDir(), "cluster.yaml", whole(strings.ReplaceAll(drainable, "namespace: default,", "namespace: default, labels: {app: web},"))), "--runs", "2")
	if status != 0 || !regexp.MustCompile("(?s)^Evicting these pods would move 2 pods, and there is a node for each of them.\n\n2 pods: [01] to another node, [12] back to the same, 0 unschedulable.*big-1 +node-2 +node-2 .*2 times, with seeds 1 to 2: pods without a node: 0 in 2 runs. Shown is the run with seed 1").MatchString(out) {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	_, out, errOut = here(t, "drain", "node/node-2", "node-1", "--cluster", cluster)
	if !strings.HasPrefix(out, "Draining node-2, node-1 would") {
		t.Errorf("not in the order in which they are named:\n%s%s", out, errOut)
	}
	status, out, errOut = here(t, "drain", "node-2", "--cluster", cluster, "--config", "native", "-o", "json")
	var removed drain.Result
	err := json.Unmarshal([]byte(out), &removed)
	if err != nil || status != statusLost || !strings.HasSuffix(errOut, "\nsimulator: 1 of 1 pods have no other node\n") {
		t.Fatalf("status %d, %v: %s %s", status, err, out, errOut)
	}
	m := removed.Moves[0]
	if m.Pod != "default/big-1" || m.From != "node-2" || m.To != "" || !strings.Contains(m.Reason, "1 Insufficient cpu") {
		t.Errorf("%+v", m)
	}
}

func TestShrinkShowsWhichNodesCanGoAndWhatThatSaves(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", whole(drainable))
	prices := writeFile(t, dir, "prices.yaml", "label: type\ncurrency: EUR\nperHour: {small: 0.5, large: 2}\n")
	status, out, errOut := here(t, "shrink", "--cluster", cluster, "--prices", prices)
	want := "^You can remove 1 of 2 nodes, and every running pod still has a node.\n\nThis took 4 trials, the emptiest node first; another order may find more.\nRemoving them saves 0.50 EUR an hour.\n" +
		"1 pod: .*\n\n(simulator drain --cluster=.*cluster.yaml node-1)\n\nWORK.*\n.*\n\nPOD .*\ndefault/web-1   node-1   node-2 .*\n\n1 node cannot go: .*node.s. were unschedulable.*\n  node-2 .default/(?:web|big)-1.\n\nTried in memory on a copy of cluster.yaml, under native .default: --cluster has no configuration., with seed 1.*\n$"
	found := regexp.MustCompile(want).FindStringSubmatch(out)
	if status != 0 || found == nil {
		t.Fatalf("status %d: %s %s", status, out, errOut)
	}
	status, out, errOut = here(t, strings.Fields(found[1])[1:]...)
	if status != 0 || !strings.Contains(out, "node-1   node-2") {
		t.Errorf("%s: status %d: %s %s", found[1], status, out, errOut)
	}
	status, out, errOut = here(t, "shrink", "--cluster", cluster, "--selector", "type=large")
	if status != statusLost || !strings.HasPrefix(out, "You can remove none of 1 node: each has a pod that cannot leave it.\n") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
}

// A file's name is anything; an API server validates those of nodes. The command is taken from each format, of Markdown from its source, and run with a simulator that
// prints its arguments.
func TestShrinkQuotesTheCommandThatItPrints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a_folder *1*")
	testkit.Must(t, os.Mkdir(dir, 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "simulator"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o700))
	for _, name := range []string{"n1;touch owned", "$(touch owned)", "a'b`touch owned`", "x'; touch owned; echo '", "a_b  *c* ```` d", "--force"} {
		cluster := writeFile(t, dir, name+".yaml", strings.Replace(drainable, "\npods:", "\n- metadata: {name: spare}\n  status: {allocatable: *small}\npods:", 1))
		for format, command := range map[string]string{
			"table": "(?m)^simulator drain .*$", "markdown": "(?m)^simulator drain .*$", "html": "simulator drain [^<]*",
		} {
			status, out, errOut := here(t, "shrink", "--cluster", cluster, "-o", format)
			found := regexp.MustCompile(command).FindString(out)
			if format == "html" { // as it is shown
				found = html.UnescapeString(found)
			}
			if status != 0 || found == "" {
				t.Fatalf("status %d: %s %s", status, out, errOut)
			}
			shell := exec.Command("sh", "-c", found)
			shell.Dir, shell.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			read, err := shell.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(read), "drain\n--cluster="+cluster+"\n") || !strings.Contains(string(read), "\nspare\n") {
				t.Errorf("%s: a shell reads %s as %s (%v)", format, found, read, err)
			}
			_, err = os.Stat(filepath.Join(dir, "owned"))
			if err == nil {
				t.Fatalf("%s: %s runs a command of the file's", format, found)
			}
		}
	}
}

func TestDrainAndShrinkReportMistakesBeforeTheyStartAnything(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", whole(drainable))
	bare := writeFile(t, dir, "bare.yaml", drainable+"- {metadata: {name: bare, namespace: default}, spec: {nodeName: node-1, containers: [{name: c, image: c}]}}\n")
	configured := writeFile(t, dir, "configured.yaml", drainable+"schedulerConfig: {kind: KubeSchedulerConfiguration, apiVersion: kubescheduler.config.k8s.io/v1, parallelism: -1}\n")
	prices := writeFile(t, dir, "prices.yaml", "label: type\nperHour: {huge: 2}\n")
	refused(t, "drain", map[string][]string{
		"--cluster or --kubeconfig is missing; try simulator drain --help":                               {"node-1"},
		"no controller recreates these pods: default/bare; --force shows where they would go if one did": {"node-1", "--cluster", bare},
		"the configuration in the cluster's file: line 1: parallelism: ":                                 {"node-1", "--cluster", configured},
	})
	refused(t, "drain --cluster "+cluster, map[string][]string{
		"choose what to drain: name nodes, or give --selector, or give --pod-selector": nil,

		"choose what to drain: name ":            {"node-1", "--selector", "a"},
		"the cluster has no node node-3, node-4": {"node-3", "node-1", "node-4"},

		"the cluster has no node node-1,node-2; put a space between two nodes, and no comma": {"node-1,node-2"},

		"--pod-selector app=none: no pod that has a node matches": {"--pod-selector", "app=none"},

		"--pod-selector =: ": {"--pod-selector", "="},
	})
	refused(t, "shrink --cluster "+cluster, map[string][]string{
		"--selector pool=new: no node matches": {"--selector", "pool=new"},
		"--selector =: ":                       {"--selector", "="},
		"--prices: no node has a price: there are some for huge, and none of these is a node's label type": {"--prices", prices},
		"--prices: open " + dir + "/none: no such file or directory":                                       {"--prices", dir + "/none"},
		`unexpected argument "node-1": choose nodes with --selector`:                                       {"node-1"},
	})
}

func TestDrainForcesPodsWithoutAController(t *testing.T) {
	bare := writeFile(t, t.TempDir(), "bare.yaml", drainable+"- {metadata: {name: bare, namespace: default}, spec: {nodeName: node-1, containers: [{name: c, image: c}]}}\n")
	status, out, errOut := here(t, "drain", "node-1", "--cluster", bare, "--force")
	if status != 0 || !strings.Contains(out, "default/bare    node-1   node-2") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
}

// A signal ends each what-if, and nothing is left behind.
func TestWhatIfsEndAfterASignal(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", whole(drainable))
	pods := writeFile(t, dir, "pods.yaml", fittedPods)
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	for _, command := range []string{"compare --a none --b v2 --pods all", "fit -f " + pods, "shrink"} {
		var out bytes.Buffer
		status := run(ctx, append(strings.Fields(command), "--cluster", cluster), &out, &out)
		if status != statusInterrupted || !strings.HasSuffix(out.String(), "simulator: interrupted\n") {
			t.Errorf("%s ended with %d: %s", command, status, &out)
		}
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
