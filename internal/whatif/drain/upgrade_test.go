package drain

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/timeline"
)

// text is a report in a format.
func text(t *testing.T, r *Result, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Write(&out, format, r, r.Report("")); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// events are what a time line has of nodes, and of pods with a name in it.
func events(timeline *timeline.Timeline, about string) (lines []string) {
	for _, e := range timeline.Events {
		if strings.HasPrefix(e.About, about) {
			lines = append(lines, fmt.Sprintf("%d %s %s", e.Seconds, strings.TrimPrefix(e.About, about), e.What))
		}
	}
	return lines
}

const upgraded = 2 // nodes, n1 and n2

func TestUpgradeReplacesNodesOrNamesWhatStopsIt(t *testing.T) {
	nodes := "nodes:\n" + nodeWith("n1", "a", "4") + nodeWith("n2", "a", "4")
	spare := nodeWith("spare", "a", "4")
	web := "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "3") + ownedBy("ReplicaSet", "web", "web-2", "n2", "3")
	large := removing(t, unmodified, "nodes:\n"+nodeWith("large", "a", "9")).Cluster.Nodes[0]
	long := strings.Repeat("n", 62)
	for name, tt := range map[string]struct {
		cluster string
		change  func(*Options)
		verdict string
		nodes   []string // events
		waits   []string
	}{
		"with a spare node": {
			nodes + spare + web, nil, "The upgrade would replace all of 2 nodes, and every pod has a node",
			[]string{"0 n1 is cordoned", "0 n1 is removed", "60 n1-new is ready", "60 n2 is cordoned", "60 n2 is removed", "120 n2-new is ready"},
			nil,
		},
		"whose names are as long as a hostname may be, and alike": {
			"nodes:\n" + nodeWith(long+"1", "a", "4") + nodeWith(long+"2", "a", "4"), func(o *Options) { o.Nodes = []string{long + "1", long + "2"} }, "The upgrade would replace all of 2 nodes, and every pod has a node",
			[]string{"0 " + long + "1 is cordoned", "0 " + long + "1 is removed", "60 " + long[:59] + "-new is ready", "60 " + long + "2 is cordoned", "60 " + long + "2 is removed", "120 " + long[:57] + "-new-2 is ready"},
			nil,
		},
		"without: a pod is pending until the new node is ready": {
			nodes + web, nil, "The upgrade would replace all of 2 nodes, and every pod has a node", nil,
			[]string{"ReplicaSet default/web 1 0-1: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable", "ReplicaSet default/web 1 1-2: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable"},
		},
		"with a node that comes first": {
			nodes + web, func(o *Options) { o.Surge = 1 }, "The upgrade would replace all of 2 nodes, and every pod has a node",
			[]string{"60 surge-1 is ready", "60 n1 is cordoned", "60 n1 is removed", "120 n1-new is ready", "120 n2 is cordoned", "120 n2 is removed", "180 n2-new is ready"},
			nil,
		},
		"one of which has a device, as its successor has": {
			nodes + `deviceClasses: [{metadata: {name: gpu}}]
resourceSlices: [{metadata: {name: n1}, spec: {driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu}]}}]
resourceClaimTemplates: [{metadata: {name: gpu, namespace: default}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}]
pods:
` + ownedBy("ReplicaSet", "gpu", "gpu-1", "", "1", "", ", resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]"),
			nil, "The upgrade would replace all of 2 nodes, and every pod has a node", nil,
			[]string{"ReplicaSet default/gpu 1 0-1: 0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) were unschedulable"},
		},
		"one of which is cordoned and not ready, and its successor is not": {
			nodes + spare + web, func(o *Options) {
				first := &o.Cluster.Nodes[0]
				first.Spec.Unschedulable = true
				first.Spec.Taints = []v1.Taint{{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}, {Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoSchedule}}
				first.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionFalse}}
			},
			"The upgrade would replace all of 2 nodes, and every pod has a node", nil, nil,
		},
		"one of which is dead, and its pods are terminating, also one that no controller recreates": {
			nodes + spare + web + ownedBy("", "bare", "bare", "n1", "1", ", deletionTimestamp: 2026-01-01T00:00:00Z, deletionGracePeriodSeconds: 30"), func(o *Options) {
				first := &o.Cluster.Nodes[0]
				first.Spec.Taints = []v1.Taint{{Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoSchedule}, {Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoExecute}}
				first.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionUnknown}}
			},
			"The upgrade would replace all of 2 nodes, and every pod has a node", nil, nil,
		},
		"with nodes of another size": {
			nodes + web + ownedBy("ReplicaSet", "late", "late-1", "", "8"), func(o *Options) { o.Node = &large },
			"The upgrade would replace all of 2 nodes, and every pod has a node", nil,
			[]string{"ReplicaSet default/web 1 0-2: 0/2 nodes are available", "ReplicaSet default/web 1 1-2: 0/2 nodes are available"}, // late-1 has waited longer
		},
		"with nodes that are too small": {
			nodes + web, func(o *Options) {
				o.Node = &removing(t, unmodified, "nodes:\n"+nodeWith("small", "a", "1")).Cluster.Nodes[0]
			},
			"The upgrade would replace all of 2 nodes, and 2 of 2 pods would have no node in the end", nil,
			[]string{"ReplicaSet default/web 1 0-2 still: 0/2 nodes are available: 2 Insufficient cpu", "ReplicaSet default/web 1 1-2 still: 0/2 nodes are available: 2 Insufficient cpu"},
		},
		"with nodes that are too small for new pods, and not for pending ones of the workload": {
			nodes + web + ownedBy("ReplicaSet", "web", "web-3", "", "2") + ownedBy("ReplicaSet", "web", "web-4", "", "2"), func(o *Options) {
				o.Node = &removing(t, unmodified, "nodes:\n"+nodeWith("small", "a", "2")).Cluster.Nodes[0]
			},
			"The upgrade would replace all of 2 nodes, and every pod has a node", nil,
			[]string{"ReplicaSet default/web 1 0-", "ReplicaSet default/web 1 1-"}, // until they end: 1.37 waits less
		},
		"a budget stops it": {
			nodes + "podDisruptionBudgets:\n" + budget("web", 2) + web, nil,
			"The upgrade would replace 0 of 2 nodes and stop at n1, which pod default/web-1 cannot leave: The disruption budget web needs 2 healthy pods and has 2 currently",
			[]string{"0 n1 is cordoned", "0 n1 cannot be emptied: pod default/web-1"},
			nil,
		},
		"a budget stops it while an evicted pod is pending": {
			"nodes:\n" + nodeWith("n1", "a", "7") + nodeWith("n2", "a", "4") + "podDisruptionBudgets:\n" + budget("web", 2) + web + ownedBy("ReplicaSet", "web", "web-3", "n1", "3"), nil,
			"The upgrade would replace 0 of 2 nodes and stop at n1, which pod default/web-3 cannot leave: The disruption budget web needs 2 healthy pods and has 2 currently", nil,
			[]string{"ReplicaSet default/web 1 0-0 still: 0/2 nodes are available"},
		},
		"the names of new nodes are taken": {
			nodes + nodeWith("n1-new", "a", "4") + web, nil, "The upgrade would replace all of 2 nodes",
			[]string{"0 n1 is cordoned", "0 n1 is removed", "60 n1-new-2 is ready", "60 n2 is cordoned", "60 n2 is removed", "120 n2-new is ready"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := removing(t, unmodified, tt.cluster, "n1", "n2")
			o.Progress = func(string, int, int) {}
			if tt.change != nil {
				tt.change(&o)
			}
			r, err := Upgrade(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(r.Verdict(), tt.verdict) || strings.Contains(tt.verdict, "all of") != (len(r.Go) == upgraded) {
				t.Errorf("%s; %v go", r.Verdict(), r.Go)
			}
			if tt.nodes != nil && !slices.Equal(events(r.Timeline, "node "), tt.nodes) {
				t.Errorf("events: %q", events(r.Timeline, "node "))
			}
			alike(t, "waits", waits(r.Timeline), tt.waits...)
			if t.Failed() {
				t.Log(text(t, r, "table"))
			}
		})
	}
}

// waits are in minutes: when a pod is tried again after seconds of backoff differs between minors of Kubernetes.
func waits(timeline *timeline.Timeline) (lines []string) {
	for _, w := range timeline.Waits {
		still := ""
		if w.Still {
			still = " still"
		}
		lines = append(lines, fmt.Sprintf("%s %d %d-%d%s: %s", w.About, w.Pods, w.From/60, w.To/60, still, w.Reason))
	}
	return lines
}

// gone tolerates for some seconds that a node cannot be reached.
func gone(seconds int) string {
	return fmt.Sprintf(", tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: %d}]", seconds)
}

const claimed = ", volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"

// disk is a claim with its volume, which is reached from nodes with a label.
func disk(affinity string) string {
	return `pvcs:
- metadata: {name: data, namespace: default, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
  status: {phase: Bound}
  spec: {accessModes: [ReadWriteOnce], volumeName: disk, storageClassName: "", resources: {requests: {storage: 1Gi}}}
pvs:
- metadata: {name: disk}
  spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], claimRef: {namespace: default, name: data}` + affinity + "}\n"
}

func in(label, value string) string {
	return fmt.Sprintf(", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: %s, operator: In, values: [%s]}]}]}}", label, value)
}

// down is a node of zone a that is not ready.
func down(name string) string {
	return strings.TrimSuffix(nodeWith(name, "a", "4"), "}\n") + ", conditions: [{type: Ready, status: \"False\"}]}\n"
}

func TestFailReportsWhatIsEvictedWhenAndWhatIsNotBack(t *testing.T) {
	const csi = ", csi: {driver: disks.example.com, volumeHandle: disk}"
	nodes := "nodes:\n" + nodeWith("n1", "a", "4") + nodeWith("n2", "a", "4") + nodeWith("n3", "b", "4")
	for name, tt := range map[string]struct {
		cluster string
		nodes   string
		verdict string
		moves   []string
		pods    []string // events
	}{
		"a node: a pod goes after five minutes, or as it tolerates": {
			nodes + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1") + ownedBy("ReplicaSet", "fast", "fast-1", "n1", "1", "", gone(30)), "n1",
			"If n1 failed, all of 2 pods would be back on other nodes",
			[]string{"fast-1 n1→n", "web-1 n1→n"},
			[]string{"80 default/fast deleted", "80 default/fast created", "80 default/fast scheduled", "350 default/web deleted", "350 default/web created", "350 default/web scheduled"},
		},
		"a pod without room, which delays no other eviction as further nodes fail": {
			nodes + nodeWith("n4", "a", "4") + nodeWith("n5", "a", "4") + nodeWith("n6", "a", "4") + nodeWith("n7", "a", "4") + nodeWith("n8", "a", "4") +
				"pods:\n" + ownedBy("ReplicaSet", "fast", "fast-1", "n1", "3", "", gone(5)) + ownedBy("ReplicaSet", "slow", "slow-1", "n1", "1", "", gone(52)) + ownedBy("ReplicaSet", "other", "other-1", "n3", "2"), "n1 n2 n4 n5 n6 n7 n8",
			"If n1, n2, n4, n5, n6, and 2 more failed, 1 of 2 pods would not be back",
			[]string{"fast-1 n1→: 0/8 nodes are available", "slow-1 n1→n3"},
			[]string{"55 default/fast deleted", "55 default/fast created", "102 default/slow deleted", "102 default/slow created", "102 default/slow scheduled"},
		},
		"a pod that tolerates it for good": {
			nodes + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1", "", ", tolerations: [{operator: Exists}]"), "n1",
			"If n1 failed, 1 of 1 pod would not be back",
			[]string{"web-1 n1→: it tolerates that its node is not ready"},
			nil,
		},
		"pods without room": {
			nodes + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "3") + ownedBy("ReplicaSet", "web", "web-2", "n2", "3") + ownedBy("ReplicaSet", "web", "web-3", "n3", "3"), "n1",
			"If n1 failed, 1 of 1 pod would not be back",
			[]string{"web-1 n1→: 0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu"},
			nil,
		},
		"a pod of a StatefulSet, and one without a controller": {
			nodes + "pods:\n" + ownedBy("StatefulSet", "db", "db-0", "n1", "1") + ownedBy("", "bare", "bare", "n1", "1"), "n1",
			"If n1 failed, 2 of 2 pods would not be back",
			[]string{"bare n1→: it is deleted, and nothing recreates it", "db-0 n1→: it stays terminating, and its StatefulSet does not recreate it before it is gone"},
			nil,
		},
		"a pod of a StatefulSet that has ended, and that a finalizer keeps: nothing more is lost": {
			nodes + "pods:\n" + strings.Replace(ownedBy("StatefulSet", "db", "db-0", "n1", "1", ", finalizers: [example.com/hold], deletionTimestamp: 2026-01-01T00:00:00Z"), "  spec:", "  status: {phase: Failed}\n  spec:", 1), "n1",
			"If n1 failed, no pod would have to move",
			nil, nil,
		},
		"a pod of a StatefulSet on a node that a person has said is out of service": {
			"nodes:\n" + strings.Replace(nodeWith("n1", "a", "4"), "  status", "  spec: {taints: [{key: node.kubernetes.io/out-of-service, effect: NoSchedule}]}\n  status", 1) + nodeWith("n2", "a", "4") +
				"pods:\n" + ownedBy("StatefulSet", "db", "db-0", "n1", "1"), "n1",
			"If n1 failed, all of 1 pod would be back on other nodes",
			[]string{"db-0 n1→n2"},
			nil,
		},
		"a local volume": {
			disk(", local: {path: /data}"+in("kubernetes.io/hostname", "n1")) + nodes + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1", "", claimed), "n1",
			"If n1 failed, 1 of 1 pod would not be back",
			[]string{"web-1 n1→: its volume disk can be reached from failed nodes only"},
			nil,
		},
		"a disk that stays attached": {
			disk(csi) + nodes + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1", "", claimed), "n1",
			"If n1 failed, 1 of 1 pod would not be back",
			[]string{"web-1 n1→: Multi-Attach error for its claim data: it is ReadWriteOnce, and attached to node n1 for pod web-1"},
			nil,
		},
		"a share that several nodes may mount": {
			strings.ReplaceAll(disk(", nfs: {server: s, path: /}"), "ReadWriteOnce", "ReadWriteMany") + nodes + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1", "", claimed), "n1",
			"If n1 failed, all of 1 pod would be back on other nodes",
			[]string{"web-1 n1→n"},
			nil,
		},
		"a zone, and a disk of that": {
			disk(csi+in("topology.kubernetes.io/zone", "a")) + nodes + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1", "", claimed) + ownedBy("ReplicaSet", "other", "other-1", "n2", "1"), "n1 n2",
			"If n1, n2 failed, 1 of 2 pods would not be back",
			[]string{"web-1 n1→: its volume disk can be reached from failed nodes only", "other-1 n2→n3"},
			nil,
		},
		"the third of five of a zone": {
			nodes + down("n4") + down("n5") + nodeWith("n6", "a", "4") + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1"), "n1",
			"If n1 failed, 1 of 1 pod would not be back",
			[]string{"web-1 n1→: Kubernetes evicts no pod while so many nodes are not ready"},
			nil,
		},
		"the second of five of a zone": {
			nodes + down("n4") + nodeWith("n5", "a", "4") + nodeWith("n6", "a", "4") + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1"), "n1",
			"If n1 failed, all of 1 pod would be back on other nodes",
			[]string{"web-1 n1→n"},
			nil,
		},
		"all zones": {
			nodes + "pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1"), "n1 n2 n3",
			"If n1, n2, n3 failed, 1 of 1 pod would not be back",
			[]string{"web-1 n1→: Kubernetes evicts no pod while so many nodes are not ready"},
			nil,
		},
		"a pod that two taints of a node and its tolerations chase": {
			"nodes:\n" + nodeWith("n1", "a", "4") + strings.Replace(nodeWith("n2", "a", "4"), "  status", "  spec: {taints: [{key: dedicated, effect: NoExecute}]}\n  status", 1) +
				"pods:\n" + ownedBy("ReplicaSet", "web", "web-1", "n1", "1", "", strings.TrimSuffix(gone(30), "]")+", {key: dedicated, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]"), "n1",
			"If n1 failed, all of 1 pod would be back",
			[]string{"web-1 n1→n2"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Fail(t.Context(), removing(t, unmodified, tt.cluster, strings.Fields(tt.nodes)...))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(r.Verdict(), tt.verdict) {
				t.Error(r.Verdict())
			}
			alike(t, "moves", described(r.Moves), tt.moves...)
			if tt.pods != nil && !slices.Equal(events(r.Timeline, "ReplicaSet "), tt.pods) {
				t.Errorf("events: %q", events(r.Timeline, "ReplicaSet "))
			}
			if strings.Contains(name, "chase") && !strings.Contains(r.Basis.String(), "Stopped looking: after 1h0m0s, when Node n2, ReplicaSet default/web still changed") {
				t.Error(r.Basis.String())
			}
			if t.Failed() {
				t.Log(text(t, r, "table"))
			}
		})
	}
}

func TestOverTimeIsTheSameBytesOnAnyNumberOfProcessors(t *testing.T) {
	cluster := "nodes:\n" + nodeWith("n1", "a", "4") + nodeWith("n2", "a", "4") + nodeWith("n3", "b", "4") + "pods:\n"
	for i := range 9 {
		cluster += ownedBy("ReplicaSet", fmt.Sprint("web-", i%3), fmt.Sprint("web-", i%3, "-", i), fmt.Sprint("n", i%3+1), "1")
	}
	for name, ask := range map[string]func(context.Context, Options) (*Result, error){"upgrade": Upgrade, "fail": Fail} {
		was := ""
		for _, processors := range []int{1, 2, 8, 8} {
			before := runtime.GOMAXPROCS(processors)
			r, err := ask(t.Context(), removing(t, unmodified, cluster, "n1", "n2"))
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
			is := text(t, r, "json") + text(t, r, "html")
			if was != "" && is != was {
				t.Errorf("%s with %d processors:\n%s\nwithout:\n%s", name, processors, is, was)
			}
			was = is
		}
		if !strings.Contains(was, `<rect class="waits" `) && name == "upgrade" {
			t.Errorf("no picture of pods that did not run: %s", was)
		}
	}
}

func TestUpgradeRemovesANodeWithAFinalizer(t *testing.T) { // which a controller of the cluster takes away
	const spread = ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
	nodes := strings.ReplaceAll(nodeWith("n1", "a", "4")+nodeWith("n2", "a", "4"), "{name: n", "{finalizers: [karpenter.sh/termination], name: n")
	pods := ""
	for i, on := range []string{"n1", "n1", "n2", "n2"} {
		pods += ownedBy("ReplicaSet", "web", fmt.Sprint("web-", i+1), on, "1", "", spread)
	}
	r, err := Upgrade(t.Context(), removing(t, unmodified, "nodes:\n"+nodes+"pods:\n"+pods, "n1", "n2"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.Verdict(), "The upgrade would replace all of 2 nodes, and every pod has a node") {
		t.Error(r.Verdict())
	}
}
