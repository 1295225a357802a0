package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
)

const fittedPods = `
apiVersion: v1
kind: Pod
metadata: {name: small}
spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "4"}}}]}
`

func fitHere(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	return here(t, append([]string{"fit"}, args...)...)
}

func TestFitExitStatusReportsPendingPods(t *testing.T) {
	dir := t.TempDir()
	cluster, both := writeFile(t, dir, "cluster.yaml", whole(healthyCluster)), writeFile(t, dir, "both.yaml", fittedPods)
	small := writeFile(t, dir, "small.yaml", fittedPods[:strings.Index(fittedPods, "---")])
	status, out, errOut := fitHere(t, "-f", both, "--cluster", cluster, "-o", "json")
	var fitting fit.Fitting
	err := json.Unmarshal([]byte(out), &fitting)
	if err != nil || status != statusLost || fitting.Tried != 2 || fitting.Pending != 1 {
		t.Errorf("status %d, %v: %s %s", status, err, out, errOut)
	}
	if !strings.Contains(errOut, "simulator: 1 pod would stay pending\n") {
		t.Error(errOut)
	}
	status, out, errOut = fitHere(t, "-f", small, "--cluster", cluster, "-o", "markdown")
	if status != 0 || !strings.HasPrefix(out, "**1 pod would fit.**\n") || !strings.Contains(out, "\n- Pod default/small: 1 of 1 fit\n") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	none := writeFile(t, dir, "none.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeSelector: {no: such}, containers: [{name: c, image: c}]}\n")
	status, out, errOut = fitHere(t, "-f", none, "--cluster", cluster, "--until-full")
	if status != statusLost || !strings.HasPrefix(out, "0 more replicas would fit.\n\nPod default/p: 0 more fit\n  The next one would stay pending: 0/1 nodes are available: 1 node(s) didn't match Pod's node") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	var two string
	for _, name := range []string{"a", "b"} {
		two += "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: " + name + "}\nspec: {selector: {matchLabels: {app: " + name + "}}, template: {metadata: {labels: {app: " + name +
			"}}, spec: {nodeSelector: {no: such}, containers: [{name: c, image: c}]}}}\n"
	}
	_, out, _ = fitHere(t, "-f", writeFile(t, dir, "two.yaml", two), "--cluster", cluster)
	if strings.Count(out, "0/1 nodes are available: 1 node(s) didn't match Pod's node") != 1 || !strings.Contains(out, "\nReplicaSet default/b: 0 of 1 fit\n  1 pod would stay pending, for the reason of ReplicaSet default/a\n") {
		t.Errorf("two workloads of one cause: %s", out)
	}
	node := writeFile(t, dir, "node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: large}\nstatus: {allocatable: {cpu: \"8\", memory: 8Gi, pods: \"10\"}}\n")
	status, out, errOut = fitHere(t, "-f", both, "--cluster", cluster, "--grow-with", node, "--runs", "2")
	if status != 0 || !strings.HasPrefix(out, "2 pods would fit with 1 more node like large.\n") || !strings.Contains(out, "2 times, with seeds 1 to 2: further nodes: 1 in 2 runs.") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
}

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
	small := writeFile(t, t.TempDir(), "small.yaml", fittedPods[:strings.Index(fittedPods, "---")])
	status, out, errOut := fitHere(t, "-f", small, "--cluster", folder)
	if status != statusLost || !strings.Contains(out, "1 Insufficient cpu") || !strings.Contains(out, "(1 file without objects of a cluster: p/logs.txt") || strings.Count(errOut, "notice: 2 v1 Event: skipped") != 1 {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	status, _, errOut = fitHere(t, "-f", small, "--cluster", logs)
	if status != statusNone || !strings.Contains(errOut, "none of its files has objects of a cluster: logs.txt") {
		t.Errorf("a folder of logs alone: status %d: %s", status, errOut)
	}
	status, _, errOut = fitHere(t, "-f", "-", "--cluster", "-")
	if status != statusNone || !strings.Contains(errOut, "standard input can be only one of the two") {
		t.Errorf("twice standard input: status %d: %s", status, errOut)
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

// The cluster's own configuration decides, unless one is named.
func TestFitUsesTheConfigurationOfTheFile(t *testing.T) {
	const config = "\nschedulerConfig: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{schedulerName: another}]}\n"
	dir := t.TempDir()
	cluster, pods := writeFile(t, dir, "cluster.yaml", healthyCluster+config), writeFile(t, dir, "pods.yaml", fittedPods)
	status, out, errOut := fitHere(t, "-f", pods, "--cluster", cluster)
	if status != statusLost || !strings.Contains(out, "2 pods would stay pending: no profile is called default-scheduler") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
}

const regexPod = `
apiVersion: v1
kind: Pod
metadata: {name: choosy, annotations: {scheduler.wasmkwokwizardry.io/regex: ^gpu-}}
spec: {containers: [{name: c, image: c}]}
`

func TestWhatIfsHonourTheAnnotation(t *testing.T) {
	dir := t.TempDir()
	const fromFile = "schedulerConfig: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}\n"
	plain := writeFile(t, dir, "plain.yaml", healthyCluster)
	known := writeFile(t, dir, "known.yaml", healthyCluster+"\n"+fromFile)
	drained := writeFile(t, dir, "drained.yaml", strings.ReplaceAll(drainable, "metadata: {name: web-1, namespace: default",
		"metadata: {annotations: {scheduler.wasmkwokwizardry.io/regex: ^gpu-}, name: web-1, namespace: default"))
	pods := writeFile(t, dir, "picky.yaml", regexPod)
	const pending = `didn't match the pod's node name regex "^gpu-"`
	const ignored = "simulator: nothing in none reads the regex of 1 pod: default/"
	for _, tt := range []struct {
		args        string
		status      int
		out, errOut string
	}{
		{"fit -f " + pods + " --cluster " + plain, statusLost, pending, "1 pod would stay pending"},
		{"fit -f " + pods + " --cluster " + plain, statusLost, " under native (default: --cluster has no configuration), with seed 1.", ""},
		{"fit -f " + pods + " --cluster " + plain + " --config none", statusNone, "", ignored + "choosy; native does; --ignore-annotations accepts that"},
		{"fit -f " + pods + " --cluster " + plain + " --config none --ignore-annotations", 0, " under none (--config), with seed 1. IGNORED: the regex of 1 pod, which nothing in the configuration reads: default/choosy. ", ""},
		{"fit -f " + pods + " --cluster " + known, statusNone, "", "simulator: nothing in the configuration in the cluster's file reads the regex of 1 pod: default/choosy"},
		{"fit -f " + pods + " --cluster " + known + " --ignore-annotations", 0, " under the configuration in the cluster's file (default), with seed 1. IGNORED: ", ""},
		{"fit -f " + pods + " --cluster " + known + " --config v2", statusLost, " under v2 (--config), with seed 1.", ""},
		{"rollout -f " + pods + " --cluster " + plain, statusLost, pending, ""},
		{"rollout -f " + pods + " --cluster " + plain + " --config none", statusNone, "", ignored + "choosy"},
		{"drain node-1 --cluster " + drained, statusLost, pending, ""},
		{"drain node-1 --config none --cluster " + drained, statusNone, "", ignored + "web-1"},
		{"upgrade node-1 --config none --cluster " + drained, statusNone, "", ignored + "web-1"},
		{"fail node-1 --config none --cluster " + drained, statusNone, "", ignored + "web-2"},
		{"shrink --config none --cluster " + drained, statusNone, "", "reads the regex of 1 pod: default/web-1; "},
		{"compare --pods all --a none --b eks --cluster " + drained, 0, " under none (A) and eks (B), with seed 1. IGNORED: the regex of 1 pod", "simulator: warning: nothing in A and B reads the regex of 1 pod: default/web-1"},
		{"compare --pods all --a none --b native --cluster " + drained, statusLost, " under none (A) and native (B), with seed 1. Inferred from pods, since the file lacks them: ReplicaSet default/big, ReplicaSet default/web. Webhooks", ""},
	} {
		status, out, errOut := here(t, strings.Fields(tt.args)...)
		if status != tt.status || !strings.Contains(out, tt.out) || !strings.Contains(errOut, tt.errOut) || (status == statusNone) != (out == "") {
			t.Errorf("%s: want status %d, %q, %q; got %d:\n%s%s", tt.args, tt.status, tt.out, tt.errOut, status, out, errOut)
		}
	}
}

func TestFitReportsMistakesBeforeItStartsAnything(t *testing.T) {
	dir := t.TempDir()
	cluster, pods := writeFile(t, dir, "cluster.yaml", whole(healthyCluster)), writeFile(t, dir, "pods.yaml", fittedPods)
	gone := filepath.Join(dir, "gone.yaml")
	service := writeFile(t, dir, "service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n")
	node := writeFile(t, dir, "node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: large}\nstatus: {capacity: {cpu: \"8\"}}\n")
	daemon := writeFile(t, dir, "daemon.yaml", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}}\n")
	misspelt := writeFile(t, dir, "misspelt.yaml", strings.Replace(fittedPods, "containers", "container", 1))
	config := writeFile(t, dir, "config.yaml", "profiles:\n- schedulername: mine\n")
	refused(t, "fit", map[string][]string{
		"-f is missing":                        {"--cluster", cluster},
		"--cluster or --kubeconfig is missing": {"-f", pods},
		`unexpected argument "other.yaml": give each file of manifests with -f`: {"-f", pods, "other.yaml"},
	})
	refused(t, "fit --cluster "+cluster, map[string][]string{
		`the path "` + gone + `" does not exist`:                               {"-f", gone},
		"nothing in " + service + " makes pods: there is 1 Service":            {"-f", service},
		misspelt + ": pod default/small: there is no field":                    {"-f", misspelt},
		"--config " + config + ": line 2: ":                                    {"-f", pods, "--config", config},
		"how many replicas fit cannot be said of a DaemonSet":                  {"-f", daemon, "--until-full"},
		"--grow-with " + pods + ": there has to be one Node, and nothing else": {"-f", pods, "--grow-with", pods},
		"or replicas until nothing does: choose one of the two":                {"-f", pods, "--until-full", "--grow-with", node},
	})
}
