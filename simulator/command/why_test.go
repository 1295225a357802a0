package command

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
)

// pendingCluster has a node with a taint, one without, and a pod for each reason to be pending.
const pendingCluster = `
nodes:
- metadata: {name: node-1, labels: {kubernetes.io/hostname: node-1}}
  status: {allocatable: &room {cpu: "4", memory: 8Gi, pods: "10"}, capacity: *room}
- metadata: {name: node-2, labels: {kubernetes.io/hostname: node-2, disk: ssd}}
  spec: {taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}
  status: {allocatable: *room, capacity: *room}
storageClasses: [{metadata: {name: at-once}, provisioner: kubernetes.io/no-provisioner}]
priorityClasses: [{metadata: {name: high}, value: 1000}]
pvcs:
- metadata: {name: data, namespace: default}
  spec: {accessModes: [ReadWriteOnce], storageClassName: at-once, resources: {requests: {storage: 1Gi}}}
pods:
- {metadata: {name: web-runs, namespace: default}, spec: {nodeName: node-1, containers: [{name: c, image: c, resources: {requests: {cpu: 500m}}}]}}
- {metadata: {name: ended, namespace: default}, spec: {nodeName: node-1, containers: [{name: c, image: c}]}, status: {phase: Succeeded}}
`

// pendingPod is a pod of it, with a spec and annotations.
func pendingPod(spec, annotations string) string {
	return pendingCluster + "- {metadata: {name: it, namespace: shop, annotations: {" + annotations + "}}, spec: {" + spec + "containers: [{name: c, image: c, resources: {requests: {cpu: 100m}}}]}}\n"
}

func TestWhySaysWhyAPodIsPending(t *testing.T) {
	const tainted = "1 node had untolerated taint(s)"
	const noNode = " because none of the cluster's 2 nodes can run it: "
	for name, tt := range map[string]struct{ cluster, verdict, table string }{
		"a regex matches none": {
			pendingPod("", "scheduler.wasmkwokwizardry.io/regex: '^gpu-'"), noNode + `2 nodes didn't match the pod's node name regex "^gpu-"`,
			`2 +RegexScheduling +node\(s\) didn't match .* +node-1, node-2\n`,
		},
		"a regex-exclude matches all": {
			pendingPod("", "scheduler.wasmkwokwizardry.io/regex-exclude: '^node-'"), noNode + `2 nodes matched the pod's node name regex-exclude "^node-"`,
			`change the annotation scheduler.wasmkwokwizardry.io/regex-exclude: "\^node-", or add a node with another name: then it fits node-1\n`,
		},
		"a bad regex": {
			pendingPod("", "scheduler.wasmkwokwizardry.io/regex: '['"),
			`, and another node would not help: annotation scheduler.wasmkwokwizardry.io/regex: missing closing ]: "[" (plugin RegexScheduling)`,
			`change the annotation scheduler.wasmkwokwizardry.io/regex: then it fits node-1\n(.*\n)*rejected +RegexScheduling \(annotation`,
		},
		"a bad regex-prefer": {
			pendingPod("", "scheduler.wasmkwokwizardry.io/regex-prefer: '['"),
			`, and another node would not help: annotation scheduler.wasmkwokwizardry.io/regex-prefer: missing closing ]: "[" (plugin RegexScheduling)`,
			`change the annotation scheduler.wasmkwokwizardry.io/regex-prefer: then it fits node-1\n`,
		},
		"resources": {
			strings.ReplaceAll(pendingPod("", ""), "100m", `"5", memory: 9Gi`), noNode + tainted + "; 1 node does not have enough free cpu, memory",
			`NODE +TaintToleration +NodeResourcesFit( +\w+)+\nnode-2 +rejected +not run( +passed)+\nnode-1 +passed +rejected( +passed)+\n`,
		},
		"a cordon": {
			strings.Replace(pendingPod("", ""), "  status: {allocatable: &room", "  spec: {unschedulable: true}\n  status: {allocatable: &room", 1),
			noNode + "1 node is cordoned; " + tainted, `1 +NodeUnschedulable +node\(s\) were unschedulable +node-1\n`,
		},
		"affinity to a pod": {
			pendingPod("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: gone}}, topologyKey: kubernetes.io/hostname}]}}, ", ""),
			noNode + tainted + "; 1 node didn't match pod affinity rules", `node-1 +passed +rejected`,
		},
		"a gate": {
			pendingPod("schedulingGates: [{name: example.com/hold}], ", ""), " because the scheduler does not try it: it has scheduling gates", "",
		},
		"an unbound claim": {
			strings.ReplaceAll(pendingPod("volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], ", ""), "data, namespace: default", "data, namespace: shop"),
			", and another node would not help: pod has unbound immediate PersistentVolumeClaims (plugin VolumeBinding)", `rejected +VolumeBinding`,
		},
		"a claim that is missing": {
			pendingPod("volumes: [{name: v, persistentVolumeClaim: {claimName: none}}], ", ""),
			`, and another node would not help: persistentvolumeclaim "none" not found (plugin VolumeRestrictions)`, `not run +`,
		},
		"an unknown scheduler": {
			pendingPod("schedulerName: batch, ", ""), ` because the scheduler does not try it: no profile is called batch: what its own scheduler does is not known, as far as the input shows`,
			`\nThe answer may be wrong, as the input has no profile batch: what that scheduler would do is not known, and its pods get no node here: shop/it\. Give a configuration that has the profile\.\n`,
		},
		"a ResourceClaim that is missing": {
			pendingPod("resourceClaims: [{name: gpu, resourceClaimName: none}], ", ""),
			` because the scheduler does not try it: DynamicResources keeps it out of the queue: could not find ResourceClaim "shop/none"`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := writeFile(t, t.TempDir(), "cluster.yaml", whole(tt.cluster))
			status, out, errOut := here(t, "why", "it", "-n", "shop", "--cluster", file, "--config", "native")
			first, rest, _ := strings.Cut(out, "\n")
			want := "Pod shop/it is pending" + tt.verdict + "."
			if status != statusLost || first != want || !strings.HasSuffix(errOut, "simulator: pod shop/it stays pending\n") {
				t.Errorf("want %q, got status %d: %s %s", want, status, out, errOut)
			}
			if !regexp.MustCompile(tt.table).MatchString(rest) {
				t.Errorf("it lacks %s: %s", tt.table, out)
			}
			if !strings.HasSuffix(rest, "\nTried in memory on a copy of cluster.yaml, under native (--config), with seed 1. Webhooks, admission policies, service accounts and autoscalers are not modelled.\n") {
				t.Error(rest)
			}
		})
	}
}

func TestWhySaysThatAPodIsNotPending(t *testing.T) {
	large := "- {metadata: {name: it, namespace: shop}, spec: {priorityClassName: high, containers: [{name: c, image: c, resources: {requests: {cpu: \"4\"}}}]}}\n"
	deleted := "- {metadata: {name: old, namespace: shop, deletionTimestamp: \"2026-01-01T00:00:00Z\", deletionGracePeriodSeconds: 30, finalizers: [a/b]}, spec: {nodeName: node-1, containers: [{name: c, image: c}]}, status: {phase: Running}}\n"
	for pod, tt := range map[string]struct{ cluster, want string }{
		"default/web-runs": {pendingCluster, "Pod default/web-runs is not pending: it is on node node-1.\n$"},
		"default/ended":    {pendingCluster, `Pod default/ended is not pending: it has ended \(Succeeded\).\n$`},
		"shop/it":          {pendingPod("", ""), "Nothing keeps pod shop/it pending in the copy: it would be scheduled to node node-1.\n\nIf it stays pending in the cluster, "},
		" shop/it":         {pendingPod("", "") + deleted, `Nothing keeps pod shop/it pending (?s:.*)If it stays pending in the cluster, pods that are being deleted may still have their room: shop/old. Or its(?s:.*)Skipped: 1 pod already being deleted: shop/old`},
		"shop/it ":         {pendingCluster + large, "Pod shop/it is pending until there is room on node node-1, which it gets by preemption of default/web-runs.\n"},
	} {
		namespace, name, _ := strings.Cut(strings.TrimSpace(pod), "/")
		file := writeFile(t, t.TempDir(), "cluster.yaml", whole(tt.cluster))
		status, out, errOut := here(t, "why", "pod/"+name, "-n", namespace, "--cluster", file)
		if status != 0 || !regexp.MustCompile("^"+tt.want).MatchString(out) {
			t.Errorf("want %q, got status %d: %s %s", tt.want, status, out, errOut)
		}
	}
}

func TestWhyReportsMistakes(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, dir, "cluster.yaml", pendingPod("", ""))
	refused(t, "why", map[string][]string{
		"accepts at most 1 arg(s), received 2":                               {"it", "other", "--cluster", file},
		"shop/it and --namespace other: choose one of the two":               {"shop/it", "-n", "other", "--cluster", file},
		"--kubeconfig " + dir + "/none: kubeconfig: stat " + dir + "/none: ": {"it", "--kubeconfig", dir + "/none"},
	})
	refused(t, "why --cluster "+file, map[string][]string{
		"namespace default has no pod web":                         {"web"},
		"namespace default has no pod it: it is in namespace shop": {"it"},
		"namespace shop has no pod other":                          {"other", "--namespace", "shop"},
	})
}

// TestWhyGroupsPendingPodsAndTriesChanges: node-1 is cordoned, node-2 has a taint, and node-3 little room.
func TestWhyGroupsPendingPodsAndTriesChanges(t *testing.T) {
	const (
		uncordon = "uncordon node-1: then it fits node-1\n"
		tolerate = "tolerate the taint dedicated=gpu:NoSchedule of node-2, or remove it: then it fits node-2\n"
	)
	also := func(line string) string { return strings.TrimSuffix(line, "\n") + "; 1 of 1 other fits then, too\n" }
	cluster := strings.Replace(pendingCluster, "  status: {allocatable: &room", "  spec: {unschedulable: true}\n  status: {allocatable: &room", 1)
	cluster = strings.Replace(cluster, "storageClasses:", "- metadata: {name: node-3, labels: {kubernetes.io/hostname: node-3}}\n  status: {allocatable: &little {cpu: \"1\", memory: 8Gi, pods: \"10\"}, capacity: *little}\nstorageClasses:", 1)
	pod := func(name, spec, requests string) {
		cluster += "- {metadata: {name: " + name + ", namespace: shop}, spec: {" + spec + "containers: [{name: c, image: c, ports: [{containerPort: 80}], resources: {requests: {" + requests + "}}}]}}\n"
	}
	pod("runs", "nodeName: node-3, ", "cpu: 500m")
	pod("small-1", "", "cpu: 600m")
	pod("small-2", "", "cpu: 600m")
	pod("large", "", "cpu: 900m, memory: 9Gi")
	pod("gated", "schedulingGates: [{name: example.com/hold}], ", "cpu: 100m")
	pod("choosy", "nodeSelector: {disk: nvme}, ", "cpu: 100m")
	pod("lonely", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: gone}}, topologyKey: kubernetes.io/hostname}]}}, ", "cpu: 100m")
	pod("fits", "", "cpu: 100m")
	file := writeFile(t, t.TempDir(), "cluster.yaml", cluster)
	status, out, errOut := here(t, "why", "--cluster", file)
	if status != statusLost || !strings.HasPrefix(out, "6 of 7 pending pods are still pending in the copy, for 5 causes.\n") || !strings.HasSuffix(errOut, "simulator: 6 pods would stay pending\n") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	for pod, want := range map[string]string{
		"2 pods": " are pending because none of the cluster's 3 nodes can run it: 1 node is cordoned; 1 node had untolerated taint(s); 1 node does not have enough free cpu.\n" +
			"shop/small-1, shop/small-2\nEach of these changes was tried alone for shop/small-1, and what helps for up to 10 others, each alone:\n\n" +
			also(uncordon) + also("free 200m of cpu on node-3, or request 400m of cpu instead of 600m: then it fits node-3\n") + also(tolerate) + "\n",
		"Pod shop/large": "request 400m of cpu instead of 900m and 8Gi of memory instead of 9Gi, as much as node-3 has left, or add a larger node: then it fits node-3\n" +
			"uncordon node-1: not enough alone, then 1 Insufficient memory\n",
		"Pod shop/gated":          "remove the scheduling gate example.com/hold: then it fits node-3\n",
		"Pod shop/choosy":         "remove disk=nvme from its nodeSelector, or label a node so: then it fits node-3\n",
		"Pod shop/lonely":         "remove its podAffinity: then it fits node-3\n",
		"Scheduled in the copy: ": "shop/fits. ",
	} {
		_, after, found := strings.Cut(out, pod)
		group, _, _ := strings.Cut(after, "\nPod ")
		if !found || !strings.Contains(group+"\n", want) {
			t.Errorf("%s lacks %q: %s", pod, want, out)
		}
	}
	for _, args := range [][]string{{"shop/small-1"}, {"small-1", "-n", "shop"}, {"pod/small-1", "-n", "shop"}} {
		status, out, errOut := here(t, append(append([]string{"why"}, args...), "--cluster", file)...)
		if status != statusLost || !strings.Contains(out, uncordon) {
			t.Errorf("%q: status %d: %s %s", args, status, out, errOut)
		}
	}
	nodes, _, _ := strings.Cut(pendingCluster, "\npods:")
	onlyNodes := writeFile(t, t.TempDir(), "nodes.yaml", nodes)
	empty := writeFile(t, t.TempDir(), "cluster.yaml", "namespaces: [{metadata: {name: empty}}]"+cluster)
	for name, tt := range map[string]struct {
		args   string
		status int
		want   string // of what is printed
	}{
		"a namespace":               {"-n shop --cluster " + file, statusLost, "6 of 7 pending pods of namespace shop are still pending in the copy, for 5 causes.\n"},
		"another namespace":         {"-n default --cluster " + file, 0, "No pod of namespace default is pending.\n"},
		"a namespace without pods":  {"-n empty --cluster " + empty, 0, "No pod of namespace empty is pending.\n"},
		"an unknown namespace":      {"-n nope --cluster " + file, statusNone, "simulator: namespace nope does not exist, or has no pods here: pods are in default, shop\n"},
		"the start of a name":       {"shop/sm --cluster " + file, statusNone, "simulator: namespace shop has no pod sm; names that begin so: shop/small-1, shop/small-2\n"},
		"it, in another namespace":  {"web -n shop --cluster " + file, statusNone, "simulator: namespace shop has no pod web; names that begin so: default/web-runs\n"},
		"a file without pods":       {"--cluster " + onlyNodes, statusNone, "nodes.yaml has no pods; this lists all kinds: kubectl get "},
		"a pod of one without pods": {"it -n shop --cluster " + onlyNodes, statusNone, "nodes.yaml has no pods; "},
	} {
		status, out, errOut := here(t, append([]string{"why"}, strings.Fields(tt.args)...)...)
		if status != tt.status || !strings.Contains(out+errOut, tt.want) || status != statusNone && !strings.HasPrefix(out, tt.want) {
			t.Errorf("%s: status %d: %s %s", name, status, out, errOut)
		}
	}
	_, out, _ = here(t, "why", "--cluster", file, "-o", "json")
	var all struct {
		Counts map[string]int
		Groups []struct {
			Pods    []string
			Changes []struct{ Helps bool }
		}
	}
	testkit.Must(t, json.Unmarshal([]byte(out), &all))
	if all.Counts["pods"] != 7 || all.Counts["pending"] != 6 || len(all.Groups) != 5 || len(all.Groups[0].Pods) != 2 || !all.Groups[0].Changes[0].Helps {
		t.Errorf("JSON has %+v", all)
	}
}

func TestWhyTriesChangesThatAPersonMayMake(t *testing.T) {
	node := func(name, spec, of string) string {
		return "- {metadata: {name: " + name + ", labels: {kubernetes.io/hostname: " + name + "}}, spec: {" + spec + "}, status: {allocatable: &" + name + " {cpu: \"1\", memory: 8Gi, pods: \"10\"" + of + "}, capacity: *" + name + "}}\n"
	}
	pod := func(name, metadata, spec, requests string) string {
		return "- {metadata: {name: " + name + ", namespace: shop" + metadata + "}, spec: {" + spec + "containers: [{name: c, image: c, ports: [{containerPort: 80}], resources: {requests: &r {" + requests + "}, limits: *r}}]}}\n"
	}
	tainted := func(key string) string { return "taints: [{key: " + key + ", effect: NoSchedule}]" }
	db := ", labels: {app: db}"
	apart := "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: db}}, topologyKey: kubernetes.io/hostname}]}}, "
	it := pod("it", "", "", "cpu: 100m")
	many := func(n int) (nodes string) {
		for i := range n {
			nodes += node(fmt.Sprintf("many-%02d", i), tainted(fmt.Sprintf("all, effect: NoSchedule}, {key: other-%02d", i)), "")
		}
		return nodes + node("last", tainted("zzz"), "")
	}
	for name, tt := range map[string]struct {
		nodes, pods string
		want        string // all that is listed
	}{
		"of two nodes that lack as much, the one that the pod would get": {
			node("a", "", "") + node("b", "", ""),
			pod("db", db, "nodeName: a, ", "cpu: 500m") + pod("web", "", "nodeName: b, ", "cpu: 500m") + pod("it", db, apart, "cpu: 1"),
			"free 500m of cpu on b, or request 500m of cpu instead of 1: then it fits b\n",
		},
		"more room on a node that lacks more": {
			node("a", "", "") + node("b", "", "") + node("c", "", ""),
			pod("db-0", db, "nodeName: a, ", "cpu: 300m") + pod("db-1", db, "nodeName: b, ", "cpu: 400m") + pod("web", "", "nodeName: c, ", "cpu: 600m") + pod("it", db, apart, "cpu: 1"),
			"free 600m of cpu on c, or request 400m of cpu instead of 1: then it fits c\n" +
				"free 300m of cpu on a, or request 700m of cpu instead of 1: not enough alone, then 1 node(s) didn't match pod anti-affinity rules\n1 more: not enough alone\n",
		},
		"taints until one helps": {
			many(5), it,
			"tolerate the taint zzz:NoSchedule of last, or remove it: then it fits last\n" +
				"tolerate the taint all:NoSchedule of many-00, many-01, many-02, many-03, many-04, or remove it: not enough alone\n" +
				"tolerate the taint other-00:NoSchedule of many-00, or remove it: not enough alone\n" +
				"tolerate the taint other-01:NoSchedule of many-01, or remove it: not enough alone\n3 more: not enough alone\n",
		},
		"the first of very many taints": {
			many(60), it,
			"tolerate the taint all:NoSchedule of many-00, many-01, many-02, many-03, many-04, and 55 more, or remove it: not enough alone\n" +
				"tolerate the taint other-00:NoSchedule of many-00, or remove it: not enough alone\n" +
				"tolerate the taint other-01:NoSchedule of many-01, or remove it: not enough alone\n47 more: not enough alone; 12 more: not tried\n",
		},
		"no node that leaves": {
			node("a", tainted("ToBeDeletedByClusterAutoscaler"), "") + node("b", tainted("karpenter.sh/disrupted"), ""), it, "",
		},
		"a taint that an agent removes": {
			node("a", tainted("node.cilium.io/agent-not-ready"), ""), it,
			"wait until the taint node.cilium.io/agent-not-ready:NoSchedule of a goes: then it fits a\n",
		},
		"a taint that a cloud's controller removes": {
			node("a", tainted("node.cloudprovider.kubernetes.io/shutdown"), ""), it,
			"repair a, so that the taint node.cloudprovider.kubernetes.io/shutdown:NoSchedule goes: then it fits a\n",
		},
		"a taint that a controller may have set": {
			node("a", tainted("node-role.kubernetes.io/control-plane"), ""), it,
			"tolerate the taint node-role.kubernetes.io/control-plane:NoSchedule of a: then it fits a\n",
		},
		"a taint that an administrator removes": {
			node("a", tainted("node.kubernetes.io/out-of-service"), ""), it,
			"repair a, and remove the taint node.kubernetes.io/out-of-service:NoSchedule: then it fits a\n",
		},
		"a DaemonSet's pod stays on its node": {
			node("a", "", "") + node("b", "", ""),
			pod("web", "", "nodeName: a, ", "cpu: 900m") + pod("it", ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}]",
				"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}, ", "cpu: 200m"),
			"free 100m of cpu on a, or request 100m of cpu instead of 200m: then it fits a\n",
		},
		"a label that a kubelet sets": {
			node("a", "", ""), pod("it", "", "nodeSelector: {kubernetes.io/arch: arm64}, ", "cpu: 100m"),
			"remove kubernetes.io/arch=arm64 from its nodeSelector, or add a node that has it: then it fits a\n",
		},
		"a label that a cloud sets": {
			node("a", "", ""), pod("it", "", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [z]}]}]}}}, ", "cpu: 100m"),
			"remove its required nodeAffinity, or add a node that has it: then it fits a\n",
		},
		"a regex that excludes": {
			node("a", "", ""), pod("it", ", annotations: {scheduler.wasmkwokwizardry.io/regex-exclude: ^a}", "", "cpu: 100m"),
			`change the annotation scheduler.wasmkwokwizardry.io/regex-exclude: "^a", or add a node with another name: then it fits a` + "\n",
		},
		"a regex with spaces, a backslash and a comma": {
			node("a", "", ""), pod("it", `, annotations: {scheduler.wasmkwokwizardry.io/regex: '^b\d, or add '}`, "", "cpu: 100m"),
			`change the annotation scheduler.wasmkwokwizardry.io/regex: "^b\d, or add ", or add a node with such a name: then it fits a` + "\n",
		},
		"a regex with quotes": {
			node("a", "", ""), pod("it", `, annotations: {scheduler.wasmkwokwizardry.io/regex: '"\d'}`, "", "cpu: 100m"),
			`change the annotation scheduler.wasmkwokwizardry.io/regex: "\"\\d", or add a node with such a name: then it fits a` + "\n",
		},
		"an extended resource that nodes have": {
			node("a", "", "") + node("b", "", `, nvidia.com/gpu: "1"`), pod("ai", "", "nodeName: b, ", `nvidia.com/gpu: "1"`) + pod("it", "", "", `nvidia.com/gpu: "1"`),
			"free 1 of nvidia.com/gpu on b: then it fits b\n",
		},
		"an extended resource that no node has": {node("a", "", ""), pod("it", "", "", `nvidia.com/gpu: "1"`), ""},
		"the ports of a pod in its node's network": {
			node("a", "", ""), strings.ReplaceAll(pod("web", "", "hostNetwork: true, nodeName: a, ", "cpu: 100m")+pod("it", "", "hostNetwork: true, ", "cpu: 100m"), "containerPort: 80", "containerPort: 80, hostPort: 80"),
			"free its host ports on a, or add a node on which they are free: then it fits a\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := writeFile(t, t.TempDir(), "cluster.yaml", "nodes:\n"+tt.nodes+"pods:\n"+tt.pods)
			status, out, errOut := here(t, "why", "--cluster", file)
			_, listed, _ := strings.Cut(out, "Each of these changes was tried alone:\n\n")
			listed, _, _ = strings.Cut(listed, "\nTried in memory")
			if status != statusLost || listed != tt.want || !strings.Contains(out, "Pod shop/it is pending") {
				t.Errorf("want %q, got status %d: %s %s", tt.want, status, out, errOut)
			}
		})
	}
}

// TestWhySaysHowManyOfAGroupDiffer: a change that helps its first pod may not help the others.
func TestWhySaysHowManyOfAGroupDiffer(t *testing.T) {
	pods := ""
	for name, amount := range map[string]string{"a": "5", "b": "6", "c": "6"} {
		pods += "- {metadata: {name: " + name + ", namespace: shop}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: " + amount + "}}}]}}\n"
	}
	_, out, errOut := here(t, "why", "--cluster", writeFile(t, t.TempDir(), "cluster.yaml", whole(pendingCluster+pods)))
	want := "was tried alone for shop/a, and what helps for up to 10 others, each alone (2 of the others differ in requests or constraints):\n"
	if !strings.Contains(out, want) || strings.Contains(out, "then, too") { // of a change with an amount
		t.Errorf("want %q: %s %s", want, out, errOut)
	}
}

func TestWhySaysHowManyPodsOfAGroupAChangeHelps(t *testing.T) {
	pods := ""
	for i := range 14 {
		labels, amount := "disk: hdd", "100m"
		if i == 1 {
			labels += ", zone: b"
		}
		if i >= 4 { // node-1 has less left, which is found out only once its label does
			amount = "3600m"
		}
		pods += fmt.Sprintf("- {metadata: {name: it-%02d, namespace: shop}, spec: {nodeSelector: {%s}, containers: [{name: c, image: c, resources: {requests: {cpu: %s}}}]}}\n", i, labels, amount)
	}
	file := writeFile(t, t.TempDir(), "cluster.yaml", whole(pendingCluster+pods))
	_, out, errOut := here(t, "why", "--cluster", file, "-o", "json")
	var all struct {
		Groups []struct {
			Pods    []string
			Changes []why.Change
		}
	}
	testkit.Must(t, json.Unmarshal([]byte(out), &all))
	if len(all.Groups) != 1 || len(all.Groups[0].Pods) != 14 || len(all.Groups[0].Changes) == 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	change := all.Groups[0].Changes[0]
	if change.Others == nil || *change.Others != (why.Others{Tried: 10, Help: 2}) {
		t.Errorf("%+v, %+v: %s", change, change.Others, out)
	}
}

func TestWhySaysThatPendingPodsGetRoom(t *testing.T) {
	pod := func(name, amount string) string {
		return "- {metadata: {name: " + name + ", namespace: shop}, spec: {priorityClassName: high, containers: [{name: c, image: c, resources: {requests: {cpu: \"" + amount + "\"}}}]}}\n"
	}
	preempts := "Pod shop/it is pending until there is room on node node-1, which it gets by preemption of default/web-runs.\n"
	for pods, tt := range map[string]struct {
		status   int
		verdict  string
		preempts bool
	}{
		pod("it", "4"):                           {0, "1 pod is pending until there is room by preemption.", true},
		pod("it", "4") + pod("large", "9"):       {statusLost, "1 pod is pending, for 1 cause. 1 pod is pending until there is room by preemption.", true},
		pod("large", "9") + pod("small", "1"):    {statusLost, "1 of 2 pending pods is still pending in the copy, for 1 cause.", false},
		pod("it", "3900m") + pod("little", "1m"): {0, "1 of 2 pending pods is pending until there is room by preemption.", true},
		pod("it", "1"):                           {0, "Nothing keeps the pending pod pending in the copy: it would be scheduled.", false},
		pod("it", "1") + pod("another", "1m"):    {0, "Nothing keeps the pending pods pending in the copy: all 2 pods would be scheduled.", false},
	} {
		status, out, errOut := here(t, "why", "--cluster", writeFile(t, t.TempDir(), "cluster.yaml", whole(pendingCluster+pods)))
		if status != tt.status || !strings.HasPrefix(out, tt.verdict+"\n") || strings.Contains(out, preempts) != tt.preempts {
			t.Errorf("want %q, got status %d: %s %s", tt.verdict, status, out, errOut)
		}
	}
}

func TestLongRegexIsWholeInJSONAlone(t *testing.T) {
	long := "^(gpu-" + strings.Repeat("1|gpu-", 300) + "2)$"
	file := writeFile(t, t.TempDir(), "cluster.yaml", pendingPod("", "scheduler.wasmkwokwizardry.io/regex: '"+long+"'"))
	const change = "change the annotation scheduler.wasmkwokwizardry.io/regex: "
	for _, question := range []string{"why", "why shop/it"} {
		for format, whole := range map[string]bool{"table": false, "markdown": false, "html": false, "json": true} {
			_, out, errOut := here(t, append(strings.Fields(question), "--cluster", file, "-o", format)...)
			at := strings.Index(out, change)
			if at < 0 || strings.Contains(out, long) != whole || !whole && !strings.Contains(out[at:], "…") {
				t.Errorf("%s -o %s: %s%s", question, format, out, errOut)
			}
		}
	}
}

func TestWhyHasEveryFormat(t *testing.T) {
	file := writeFile(t, t.TempDir(), "cluster.yaml", pendingPod("nodeSelector: {disk: ssd}, ", ""))
	for format, wants := range map[string][]string{
		"json":     {`"pending": true`, `"config": "native"`, `"configReason": "default: --cluster has no configuration"`, `"cluster": "a copy of cluster.yaml"`, `"node": "node-2"`},
		"markdown": {"\n| NODE | TaintToleration | NodeAffinity |", "\n| node-2 | rejected | not run |"},
		"html":     {"<!doctype html>", "Pod shop/it is pending because", "Rejected nodes", `aria-label="Verdicts on the nodes"`, `<th scope="row">node-1</th>`, "with seed 1."},
	} {
		status, out, errOut := here(t, "why", "it", "-n", "shop", "--cluster", file, "-o", format)
		if status != statusLost {
			t.Errorf("%s: status %d: %s", format, status, errOut)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: it lacks %q: %s", format, want, out)
			}
		}
		link := regexp.MustCompile("<script|<link|href=|hx-").FindString(out)
		if link != "" {
			t.Errorf("the file needs something else: it has %s", link)
		}
	}
}
