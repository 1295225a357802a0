package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

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

// here runs a command to its end.
func here(ctx context.Context, args ...string) (status int, out, errOut string) {
	var stdout, stderr bytes.Buffer
	status = run(ctx, args, &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func TestTheExitStatusOfDrainReportsUnschedulablePods(t *testing.T) {
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", drainable)
	status, out, errOut := here(t.Context(), "drain", "--selector", "pool=old", "--cluster", cluster)
	const tried = "\nTried in memory on a copy of cluster.yaml, under none, with seed 1. Webhooks, quotas and autoscalers are not modelled.\n"
	const sum = "Draining node-1 would move 1 pod, and there is a node for it.\n\n1 pod: 1 to another node, 0 unschedulable.\n\n"
	if want := sum + "WORKLOAD                 PODS   UNSCHEDULABLE   REASON\nReplicaSet default/web   1      0               \n\n" +
		"POD             FROM     TO       REASON\ndefault/web-1   node-1   node-2   \n" + tried; status != 0 || out != want {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	status, out, errOut = here(t.Context(), "drain", "-l", "pool=old", "--cluster", cluster, "-o", "markdown")
	if want := "**" + strings.Replace(sum, ".\n", ".**\n", 1) + "| WORKLOAD | PODS | UNSCHEDULABLE | REASON |\n|---|---|---|---|\n| ReplicaSet default/web | 1 | 0 |  |\n\n| POD | FROM | TO | REASON |\n|---|---|---|---|\n| default/web-1 | node-1 | node-2 |  |\n" + tried; status != 0 || out != want {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	status, out, errOut = here(t.Context(), "drain", "--pod-selector", "app=web", "--cluster", writeFile(t, t.TempDir(), "cluster.yaml", strings.ReplaceAll(drainable, "namespace: default,", "namespace: default, labels: {app: web},")), "--runs", "2")
	if status != 0 || !regexp.MustCompile("(?s)^Evicting these pods would move 2 pods, and there is a node for each of them.\n\n2 pods: [01] to another node, [12] back to the same, 0 unschedulable.*big-1 +node-2 +node-2 .*2 times, with seeds 1 to 2: pods without a node: 0 in 2 runs. Shown is the run with seed 1").MatchString(out) {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	status, out, errOut = here(t.Context(), "drain", "node-2", "--cluster", cluster, "--config", "native", "-o", "json")
	var removed drain.Result
	if err := json.Unmarshal([]byte(out), &removed); err != nil || status != statusLost || !strings.HasSuffix(errOut, "\nsimulator: 1 of 1 pods have no other node\n") {
		t.Fatalf("status %d, %v: %s %s", status, err, out, errOut)
	}
	if m := removed.Moves[0]; m.Pod != "default/big-1" || m.From != "node-2" || m.To != "" || !strings.Contains(m.Reason, "1 Insufficient cpu") {
		t.Errorf("%+v", m)
	}
}

func TestShrinkShowsWhichNodesCanGoAndWhatThatSaves(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", drainable)
	prices := writeFile(t, dir, "prices.yaml", "label: type\ncurrency: EUR\nperHour: {small: 0.5, large: 2}\n")
	status, out, errOut := here(t.Context(), "shrink", "--cluster", cluster, "--prices", prices)
	want := "^You can remove 1 of 2 nodes, and every running pod still has a node.\n\nThis took 3 trials, the emptiest node first; another order may find more.\nThey cost 0.50 EUR an hour.\n" +
		"(simulator drain --cluster=.*cluster.yaml node-1)\n1 pod: .*\n\nWORK.*\n.*\n\nPOD .*\ndefault/web-1   node-1   node-2 .*\n\n1 node cannot go: .*node.s. were unschedulable.*\n  node-2 .default/(?:web|big)-1.\n\nTried in memory on a copy of cluster.yaml, under none, with seed 1.*\n$"
	found := regexp.MustCompile(want).FindStringSubmatch(out)
	if status != 0 || found == nil {
		t.Fatalf("status %d: %s %s", status, out, errOut)
	}
	if status, out, errOut := here(t.Context(), strings.Fields(found[1])[1:]...); status != 0 || !strings.Contains(out, "node-1   node-2") {
		t.Errorf("%s: status %d: %s %s", found[1], status, out, errOut)
	}
	if status, out, errOut := here(t.Context(), "shrink", "--cluster", cluster, "--selector", "type=large"); status != statusLost || !strings.HasPrefix(out, "You can remove none of 1 node: each has a pod without another node.\n") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
}

func TestDrainAndShrinkReportMistakesBeforeTheyStartAnything(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", drainable)
	bare := writeFile(t, dir, "bare.yaml", drainable+"- {metadata: {name: bare, namespace: default}, spec: {nodeName: node-1, containers: [{name: c, image: c}]}}\n")
	configured := writeFile(t, dir, "configured.yaml", drainable+"schedulerConfig: {kind: KubeSchedulerConfiguration, apiVersion: kubescheduler.config.k8s.io/v1, parallelism: -1}\n")
	prices := writeFile(t, dir, "prices.yaml", "label: type\nperHour: {huge: 2}\n")
	for want, args := range map[string][]string{
		"choose what to drain: name nodes, or give --selector, or give --pod-selector": {"drain", "--cluster", cluster},
		"choose what to drain: name ":                                      {"drain", "node-1", "--selector", "a", "--cluster", cluster},
		"--cluster or --kubeconfig is missing; try simulator drain --help": {"drain", "node-1"},
		"the cluster has no node node-3, node-4":                           {"drain", "node-3", "node-1", "node-4", "--cluster", cluster},
		"--selector pool=new: no node matches":                             {"shrink", "--selector", "pool=new", "--cluster", cluster},
		"--pod-selector app=none: no pod that has a node matches":          {"drain", "--pod-selector", "app=none", "--cluster", cluster},
		"--pod-selector =: ":                                               {"drain", "--pod-selector", "=", "--cluster", cluster},
		"--selector =: ":                                                   {"shrink", "--selector", "=", "--cluster", cluster},
		"no controller recreates these pods: default/bare; --force shows where they would go if one did":   {"drain", "node-1", "--cluster", bare},
		"--config v3: there is no such file, and no such plugin variant":                                   {"drain", "node-1", "--cluster", cluster, "--config", "v3"},
		"the configuration in the cluster's file: line 1: parallelism: ":                                   {"drain", "node-1", "--cluster", configured},
		`invalid argument "yaml" for "-o, --output" flag: use html, json, markdown or table`:               {"shrink", "--cluster", cluster, "-o", "yaml"},
		"--prices: no node has a price: there are some for huge, and none of these is a node's label type": {"shrink", "--cluster", cluster, "--prices", prices},
		"--prices: open " + dir + "/none: no such file or directory":                                       {"shrink", "--cluster", cluster, "--prices", dir + "/none"},
		`unknown command "node-1" for "simulator shrink"`:                                                  {"shrink", "node-1", "--cluster", cluster},
	} {
		status, out, errOut := here(t.Context(), args...)
		if status != statusNone || out != "" || !strings.HasPrefix(errOut, "simulator: "+want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%v: want %q, got status %d, %q %s", args, want, status, errOut, out)
		}
	}
}

func TestAPodWithoutAControllerIsForced(t *testing.T) {
	bare := writeFile(t, t.TempDir(), "bare.yaml", drainable+"- {metadata: {name: bare, namespace: default}, spec: {nodeName: node-1, containers: [{name: c, image: c}]}}\n")
	if status, out, errOut := here(t.Context(), "drain", "node-1", "--cluster", bare, "--force"); status != 0 || !strings.Contains(out, "default/bare    node-1   node-2") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
}

func TestShrinkEndsAfterASignalAndLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancelCause(t.Context())
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", drainable)
	cancel(errors.New("interrupted"))
	if status, out, errOut := here(ctx, "shrink", "--cluster", cluster); status != statusNone || out != "" || !strings.HasSuffix(errOut, "simulator: interrupted\n") {
		t.Errorf("it ended with %d: %s%s", status, out, errOut)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
