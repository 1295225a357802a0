package command

import (
	"encoding/json"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
)

const changedWeb = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}}
`

func TestOverTimeExitStatusSaysWhetherItEnds(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", whole(drainable))
	budget := writeFile(t, dir, "budget.yaml", whole(strings.ReplaceAll(drainable, "namespace: default,", "namespace: default, labels: {app: web},")+
		"podDisruptionBudgets:\n- {metadata: {name: all, namespace: default}, spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}}\n"))
	zone := writeFile(t, dir, "zone.yaml", whole(strings.Replace(drainable, "pool: old", "topology.kubernetes.io/zone: z, pool: old", 1)))
	node := writeFile(t, dir, "node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: new}\nstatus: {capacity: {cpu: \"9\", memory: 8Gi, pods: \"10\"}}\n")
	web := writeFile(t, dir, "web.yaml", changedWeb)
	large := writeFile(t, dir, "large.yaml", strings.Replace(changedWeb, `cpu: "1"`, `cpu: "7"`, 1))
	for command, want := range map[string]struct {
		status int
		answer string
	}{
		"rollout -f " + web + " --cluster " + cluster:                              {0, "The rollout of 1 workload would end.\n"},
		"rollout -f " + large + " --cluster " + cluster:                            {statusLost, "The rollout of Deployment default/web would not end.\n"},
		"upgrade node-1 --cluster " + cluster:                                      {0, "The upgrade would replace all of 1 node, and every pod has a node.\n"},
		"upgrade node-1 node-2 --surge 2 --node " + node + " --cluster " + cluster: {0, "The upgrade would replace all of 2 nodes, and every pod has a node.\n"},
		"upgrade -l pool=old --cluster " + budget:                                  {statusLost, "The upgrade would replace 0 of 1 node and stop at node-1, which pod default/web-1 cannot leave: The disruption budget all needs "},
		"fail node-1 --cluster " + cluster:                                         {0, "If node-1 failed, all of 1 pod would be back on other nodes.\n"},
		"fail --zone z --cluster " + zone:                                          {0, "If zone z (node-1) failed, all of 1 pod would be back on other nodes.\n"},
		"fail node-2 --cluster " + cluster:                                         {statusLost, "If node-2 failed, 1 of 1 pod would not be back.\n"},
	} {
		status, out, errOut := here(t, strings.Fields(command)...)
		if status != want.status || !strings.HasPrefix(out, want.answer) || !strings.Contains(out, "Time line:\n\nTIME ") {
			t.Errorf("%s: status %d: %s %s", command, status, out, errOut)
		}
	}
	_, out, _ := here(t, "fail", "node-2", "--cluster", cluster)
	testkit.Has(t, out, "\nNot running in between:\n\nWORKLOAD                 PODS   SINCE    UNTIL   REASON\nReplicaSet default/big   1      +5m50s   -  ")
	_, out, _ = here(t, "fail", "node-1", "--cluster", cluster, "-o", "json")
	var failed drain.Result
	err := json.Unmarshal([]byte(out), &failed)
	if err != nil || len(failed.Timeline.Events) == 0 || failed.Timeline.Events[0].What != "is not ready" {
		t.Errorf("%v: %s", err, out)
	}
	_, out, _ = here(t, "rollout", "-f", large, "--cluster", cluster, "-o", "json")
	var rollout fit.Fitting
	err = json.Unmarshal([]byte(out), &rollout)
	if err != nil || rollout.Workloads[0].Stuck == "" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestOverTimeReportsMistakesBeforeItStartsAnything(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", whole(drainable))
	config := writeFile(t, dir, "config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
	bare := writeFile(t, dir, "bare.yaml", drainable+"- {metadata: {name: bare, namespace: default}, spec: {nodeName: node-1, containers: [{name: c, image: c}]}}\n")
	refused(t, "upgrade --cluster "+cluster, map[string][]string{
		"choose what to upgrade: name nodes, or give --selector":            nil,
		"choose what to upgrade: ":                                          {"node-1", "-l", "pool=old"},
		"--surge -1: it is how many nodes come first, and not less than 0":  {"node-1", "--surge", "-1"},
		"--node " + config + ": there has to be one Node, and nothing else": {"node-1", "--node", config},
		"--node the path \"" + dir + "/none\" does not exist":               {"node-1", "--node", dir + "/none"},
	})
	refused(t, "upgrade", map[string][]string{
		"no controller recreates these pods: default/bare; --force shows where they would go if one did": {"node-1", "--cluster", bare},
		"--cluster or --kubeconfig is missing; try simulator upgrade --help":                             {"node-1"},
	})
	refused(t, "fail --cluster "+cluster, map[string][]string{
		"choose what fails: name nodes, or give --selector, or give --zone": nil,
		"choose what fails: ":        {"node-1", "--zone", "z"},
		"--zone z: no node is in it": {"--zone", "z"},
		"--zone a,b: ":               {"--zone", "a,b"},
	})
	refused(t, "rollout --cluster "+cluster, map[string][]string{
		"-f is missing: the manifests; try simulator rollout --help":      nil,
		"nothing in " + config + " makes pods: there is 1 ConfigMap":      {"-f", config},
		"-f - and --cluster -: standard input can be only one of the two": {"-f", "-", "--cluster", "-"},
	})
}
