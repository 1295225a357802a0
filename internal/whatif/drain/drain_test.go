package drain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// node is one in a zone, with so many CPUs.
func nodeWith(name, zone, cpu string) string {
	return fmt.Sprintf(`- metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, topology.kubernetes.io/zone: %s}}
  status: {allocatable: {cpu: "%s", memory: 8Gi, pods: "20"}, capacity: {cpu: "%[3]s", memory: 8Gi, pods: "20"}}
`, name, zone, cpu)
}

// ownedBy is a pod of a workload. It has what is added to its metadata and its spec.
func ownedBy(kind, app, name, node, cpu string, more ...string) string {
	metadata, spec := "", ""
	if kind != "" {
		metadata = fmt.Sprintf(", ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: %[2]s, controller: true}]", kind, app)
	}
	if len(more) > 0 {
		metadata += more[0]
	}
	if len(more) > 1 {
		spec = more[1]
	}
	if node != "" {
		spec += ", nodeName: " + node
	}
	return fmt.Sprintf(`- metadata: {name: %s, namespace: default, labels: {app: %s}%s}
  spec: {containers: [{name: c, image: c, resources: {requests: {cpu: %s}}}]%s}
`, name, app, metadata, cpu, spec)
}

// budget is how many pods of a workload there have to be.
func budget(app string, least int) string {
	return fmt.Sprintf(`- metadata: {name: %s, namespace: default}
  spec: {minAvailable: %d, selector: {matchLabels: {app: %[1]s}}}
`, app, least)
}

const unmodified, native = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
	unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: RegexScheduling}]}}}]\n"

func removing(t *testing.T, config, cluster string, nodes ...string) Options {
	t.Helper()
	s, notices, err := snapshot.Read(strings.NewReader(cluster))
	if err != nil || len(notices) > 0 {
		t.Fatal(err, notices)
	}
	o := Options{Nodes: nodes, Options: engine.Options{Cluster: s, Seed: 1}}
	if o.Config, err = kubescheduler.Read([]byte(config)); err != nil {
		t.Fatal(err)
	}
	return o
}

// described are moves in short.
func described(moves []engine.Move) []string {
	all := []string{}
	for _, m := range moves {
		line := strings.TrimPrefix(m.Pod, "default/") + " " + m.From + "→" + m.To
		if m.PreemptedBy != "" {
			line += " by " + m.PreemptedBy
		}
		if m.Reason != "" {
			line += ": " + m.Reason
		}
		all = append(all, line)
	}
	return all
}

// alike fails unless each line begins with what is wanted of it.
func alike(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDrainReportsWhereEachPodGoesOrWhatKeepsIt(t *testing.T) {
	cluster := "nodes:\n" + nodeWith("gone", "a", "8") + nodeWith("small", "a", "2") + nodeWith("large", "b", "16") +
		"podDisruptionBudgets:\n" + budget("web", 1) + budget("only", 1) + `
pvcs:
- metadata: {name: data, namespace: default, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
  status: {phase: Bound}
  spec: {accessModes: [ReadWriteOnce], volumeName: disk, storageClassName: "", resources: {requests: {storage: 1Gi}}}
pvs:
- metadata: {name: disk}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    persistentVolumeReclaimPolicy: Retain
    claimRef: {namespace: default, name: data}
    csi: {driver: disks.example.com, volumeHandle: disk}
    nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]}}
pods:
` + ownedBy("ReplicaSet", "web", "web-1", "gone", "500m") + ownedBy("ReplicaSet", "web", "web-2", "gone", "500m") +
		ownedBy("ReplicaSet", "only", "only-1", "gone", "500m") +
		ownedBy("StatefulSet", "db", "db-0", "gone", "500m", "", ", volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]") +
		ownedBy("ReplicaSet", "picky", "picky-1", "gone", "500m", ", annotations: {scheduler.wasmkwokwizardry.io/regex: ^gone$}") +
		ownedBy("DaemonSet", "agent", "agent-1", "gone", "100m") +
		ownedBy("", "static", "static-gone", "gone", "100m", ", annotations: {kubernetes.io/config.mirror: x}") +
		ownedBy("ReplicaSet", "web", "other", "large", "500m")
	removed, err := Drain(t.Context(), removing(t, native, cluster, "gone"))
	testkit.Must(t, err)
	alike(t, "moves", described(removed.Moves),
		"picky-1 gone→: 0/3 nodes are available: ",
		"only-1 gone→: The disruption budget only needs 1 healthy pods and has 1 currently",
		"db-0 gone→small", "web-1 gone→small", "web-2 gone→large",
	)
	if removed.Lost() != 2 || !strings.Contains(removed.Moves[0].Reason, "^gone$") {
		t.Errorf("%d are lost: %s", removed.Lost(), removed.Moves[0].Reason)
	}
}

func TestDrainWaitsForPodsThatHaveEnded(t *testing.T) { // as kubectl does
	pod := ownedBy("", "bare", "bare-1", "gone", "1", `, deletionTimestamp: "2026-11-01T00:00:00Z", finalizers: [example.com/hold]`) + "  status: {phase: Succeeded}\n"
	r, err := Drain(t.Context(), removing(t, unmodified, "nodes:\n"+nodeWith("gone", "a", "2")+nodeWith("free", "a", "2")+"pods:\n"+pod, "gone"))
	testkit.Must(t, err)
	if len(r.Moves) > 0 || len(r.Stay) != 1 || r.Stay[0] != (Stay{"gone", "default/bare-1", "it stays terminating until its finalizer example.com/hold is removed"}) {
		t.Errorf("moves %v, stays %q", described(r.Moves), r.Stay)
	}
}

func TestDrainReportsPreemptedPods(t *testing.T) {
	cluster := "nodes:\n" + nodeWith("gone", "a", "2") + nodeWith("full", "a", "2") + nodeWith("free", "b", "1") +
		"priorityClasses:\n- {metadata: {name: high}, value: 1000}\npods:\n" +
		ownedBy("ReplicaSet", "first", "first-1", "gone", "2", "", ", priorityClassName: high") +
		ownedBy("ReplicaSet", "low", "low-1", "full", "1") + ownedBy("ReplicaSet", "low", "low-2", "full", "1")
	removed, err := Drain(t.Context(), removing(t, unmodified, cluster, "gone"))
	testkit.Must(t, err)
	moves := described(removed.Moves)
	if len(moves) == 3 && strings.HasPrefix(moves[0], "low-2") { // one of the two finds a node
		for i := range moves {
			moves[i] = strings.NewReplacer("low-2", "low-1", "low-1", "low-2").Replace(moves[i])
		}
		slices.Sort(moves[1:])
	}
	alike(t, "moves", moves, "low-1 full→ by default/first-1: 0/3 nodes are available: ", "first-1 gone→full", "low-2 full→free by default/first-1")
}

// shrinking has two nodes that can go: the pods of a and b have room on c, not that of c.
var shrinking = "nodes:\n" + nodeWith("a", "x", "4") + nodeWith("b", "x", "4") + nodeWith("c", "x", "4") + nodeWith("d", "x", "1") + nodeWith("e", "x", "1") +
	"podDisruptionBudgets:\n" + budget("only", 1) + "pods:\n" +
	ownedBy("ReplicaSet", "web", "web-a", "a", "1") + ownedBy("ReplicaSet", "web", "web-b", "b", "1") + ownedBy("ReplicaSet", "web", "web-c", "c", "2") +
	ownedBy("ReplicaSet", "only", "only-1", "d", "900m") + ownedBy("", "bare", "bare-1", "e", "900m") + ownedBy("ReplicaSet", "huge", "huge-1", "", "32")

func TestShrinkFindsWhatADrainOfAFreshCopyDoes(t *testing.T) {
	removed, err := Shrink(t.Context(), removing(t, unmodified, shrinking, "a", "b", "c", "d", "e"))
	testkit.Must(t, err)
	alike(t, "nodes that go", removed.Go, "a", "b")
	alike(t, "moves", described(removed.Moves), "web-a a→c", "web-b b→c")
	var stay []string
	for _, one := range removed.Stay {
		stay = append(stay, one.Node+" "+one.Pod+" "+one.Reason)
	}
	slices.Sort(stay)
	alike(t, "nodes that stay", stay, "c default/web-", "d default/only-1 The disruption budget only needs 1", "e default/bare-1 no controller")
	drained, err := Drain(t.Context(), removing(t, unmodified, shrinking, removed.Go...))
	testkit.Must(t, err)
	if drained.Lost() > 0 || !slices.Equal(described(drained.Moves), described(removed.Moves)) {
		t.Errorf("%q is not %q", described(drained.Moves), described(removed.Moves))
	}
}

// TestShrinkOfManyNodesIsWhatDrainDoes has pods of many sizes, of which a search places some as the controllers do not.
func TestShrinkOfManyNodesIsWhatDrainDoes(t *testing.T) {
	var nodes []string
	cluster, pods := "nodes:\n", ""
	for i := range 40 {
		name := fmt.Sprintf("n%02d", i*17%40)
		nodes = append(nodes, name)
		cluster += nodeWith(name, fmt.Sprint("z", i%3), "4")
		for j := range 1 + i%3 {
			app := fmt.Sprint("app", (i+j)%7)
			pods += ownedBy("ReplicaSet", app, fmt.Sprintf("%s-%d-%d", app, i, j), name, fmt.Sprint(300+(i+j)%7*170, "m"))
		}
	}
	cluster += "pods:\n" + pods
	removed, err := Shrink(t.Context(), removing(t, unmodified, cluster, nodes...))
	testkit.Must(t, err)
	drained, err := Drain(t.Context(), removing(t, unmodified, cluster, removed.Go...))
	testkit.Must(t, err)
	if len(removed.Go) < 10 || drained.Lost() > 0 || !slices.Equal(described(drained.Moves), described(removed.Moves)) {
		t.Errorf("of %v: %q is not %q", removed.Go, described(drained.Moves), described(removed.Moves))
	}
}

func TestShrinkNamesNoNodeThatIsStuck(t *testing.T) {
	const (
		apart = ", priorityClassName: high, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}]}}"
		high  = "priorityClasses:\n- {metadata: {name: high}, value: 1000, preemptionPolicy: Never}\n"
		even  = ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: web}}}]"
		job   = `jobs:
- metadata: {name: work, namespace: default, uid: work, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: nightly, uid: nightly, controller: true}]}
  spec: {parallelism: 1, completions: 1, backoffLimit: 0, podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}, selector: {matchLabels: {app: work}}, template: {metadata: {labels: {app: work}}, spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}
`
		ofJob = `- metadata: {name: work-1, namespace: default, labels: {app: work}, finalizers: [batch.kubernetes.io/job-tracking], ownerReferences: [{apiVersion: batch/v1, kind: Job, name: work, uid: work, controller: true}]}
  spec: {nodeName: a, restartPolicy: Never, containers: [{name: c, image: c}]}
`
		dead = "- {metadata: {name: dead, labels: {kubernetes.io/hostname: dead}}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 20}, conditions: [{type: Ready, status: Unknown}]}}\n"
	)
	for name, tt := range map[string]struct {
		cluster string
		may     []string
		want    string
	}{
		"the place of its pod is taken by a pending one": {
			"nodes:\n" + nodeWith("gone", "a", "4") + nodeWith("free", "a", "4") + high + "pods:\n" +
				ownedBy("ReplicaSet", "web", "web-1", "gone", "1") + ownedBy("", "p", "p", "", "100m", "", apart),
			[]string{"gone"},
			"",
		},
		"its pod tolerates cordons, and goes to another that goes": {
			"nodes:\n" + nodeWith("a", "x", "8") + nodeWith("b", "x", "2") + nodeWith("full", "x", "1") + "pods:\n" +
				ownedBy("ReplicaSet", "tol", "tol-1", "b", "1", "", ", tolerations: [{operator: Exists}]") + ownedBy("ReplicaSet", "other", "other-1", "full", "1"),
			[]string{"a", "b"},
			"a",
		},
		"a spread that honours taints": {
			"nodes:\n" + nodeWith("a", "x", "4") + nodeWith("b", "x", "4") + nodeWith("c", "x", "4") + "pods:\n" +
				ownedBy("ReplicaSet", "web", "web-a", "a", "1", "", even) + ownedBy("ReplicaSet", "web", "web-b", "b", "1", "", even) + ownedBy("ReplicaSet", "web", "web-c", "c", "1", "", even),
			[]string{"a"},
			"a",
		},
		"a pod of a CronJob": {"nodes:\n" + nodeWith("a", "a", "4") + nodeWith("b", "a", "4") + job + "pods:\n" + ofJob, []string{"a"}, "a"},
		"a dead one, with a successor": {
			"nodes:\n" + dead + nodeWith("live", "x", "1") + "pods:\n" +
				ownedBy("ReplicaSet", "web", "web-1", "dead", "1", `, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30`) + ownedBy("ReplicaSet", "web", "web-2", "live", "1"),
			[]string{"dead"},
			"dead",
		},
	} {
		r, err := Shrink(t.Context(), removing(t, unmodified, tt.cluster, tt.may...))
		testkit.Must(t, err)
		deleted := strings.Join(r.Delete, " ")
		if strings.Join(r.Go, " ") != tt.want || len(r.Go)+len(r.Stay) != len(tt.may) || (deleted == "dead") != (tt.want == "dead") || r.Go == nil {
			t.Errorf("%s: %q can go, %q if deleted, %v stay; want %q", name, r.Go, deleted, r.Stay, tt.want)
		}
	}
}

// withDevices has three nodes with a device each and one without. Claims of two pods are in the
// file, and that of the third is made from a template; a fourth pod is pending for lack of a device.
func withDevices() string {
	nodes, slices, claims, pods := nodeWith("none", "x", "9"), "", "", ""
	for _, node := range []string{"a", "b", "d"} {
		nodes += nodeWith(node, "x", "4")
		slices += fmt.Sprintf(`- {metadata: {name: %s}, spec: {driver: gpu.example.com, nodeName: %[1]s, pool: {name: %[1]s, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu}]}}
`, node)
	}
	for _, node := range []string{"a", "b"} {
		claims += fmt.Sprintf(`- metadata: {name: of-%s, namespace: default, finalizers: [resource.kubernetes.io/delete-protection]}
  spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
  status:
    allocation:
      devices: {results: [{request: gpu, driver: gpu.example.com, pool: %[1]s, device: gpu}]}
      nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [%[1]s]}]}]}
`, node)
		pods += ownedBy("ReplicaSet", "gpu", "gpu-"+node, node, "1", "", ", resourceClaims: [{name: gpu, resourceClaimName: of-"+node+"}]")
	}
	for _, name := range []string{"made", "waits"} {
		pods += ownedBy("ReplicaSet", "gpu", name, "", "1", "", ", resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]")
	}
	return "nodes:\n" + nodes + "deviceClasses:\n- metadata: {name: gpu}\nresourceSlices:\n" + slices + "resourceClaims:\n" + claims + `resourceClaimTemplates:
- {metadata: {name: gpu, namespace: default}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}
pods:
` + pods
}

// state is all that a batch may change: pods, nodes and who has which devices.
func (d *draining) state() (all []string) {
	for _, pod := range cluster.All[*v1.Pod](d.engine.Cluster) {
		all = append(all, fmt.Sprint(pod.Name, pod.Spec.NodeName, pod.Labels, len(pod.OwnerReferences), pod.Spec.Containers, pod.Status.Phase, pod.UID))
	}
	for _, node := range cluster.All[*v1.Node](d.engine.Cluster) {
		all = append(all, fmt.Sprint(node.Name, node.Spec))
	}
	for _, claim := range cluster.All[*resourcev1.ResourceClaim](d.engine.Cluster) {
		line := "claim " + claim.Name
		for _, pod := range claim.Status.ReservedFor {
			line += " for " + pod.Name
		}
		if claim.Status.Allocation != nil {
			line += " is of " + claim.Status.Allocation.Devices.Results[0].Pool
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

func TestFailedBatchLeavesEverythingAsItWas(t *testing.T) {
	for text, nodes := range map[string][]string{shrinking: {"a", "b", "c"}, withDevices(): {"a", "b", "d"}} {
		o := removing(t, unmodified, text)
		_, err := o.once(t.Context(), o.Options, func(string, int, int) {}, func(d *draining) error {
			d.engine.Scheduler.NoPreemption = true
			before := d.state()
			if text != shrinking && !slices.Contains(before, "claim of-a for gpu-a is of a") {
				t.Errorf("it begins with %q", before)
			}
			for range 2 {
				stuck, err := d.drain(t.Context(), nodes...)
				if err != nil || len(stuck) == 0 {
					t.Errorf("%v %v", stuck, err)
				}
				alike(t, "afterwards", d.state(), before...)
			}
			return nil
		})
		testkit.Must(t, err)
	}
}

// A pod that cannot be recreated costs no other one its answer.
func TestDrainLosesPodsThatCannotBeRecreated(t *testing.T) {
	limits := "limitRanges:\n- {metadata: {name: limits, namespace: default}, spec: {limits: [{type: Container, min: {cpu: 1}}]}}\n"
	text := limits + "nodes:\n" + nodeWith("gone", "a", "8") + nodeWith("large", "b", "16") + "pods:\n" +
		ownedBy("ReplicaSet", "small", "small-1", "gone", "500m") + ownedBy("ReplicaSet", "web", "web-1", "gone", "1")
	removed, err := Drain(t.Context(), removing(t, unmodified, text, "gone"))
	testkit.Must(t, err)
	alike(t, "moves", described(removed.Moves), "small-1 gone→: the API server rejects it: minimum cpu usage per Container is 1", "web-1 gone→large")
}

// Another node cannot go, where their room is.
func TestShrinkFindsRoomForPodsOfANodeThatIsNotReady(t *testing.T) {
	const taints = "  spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}, {key: node.kubernetes.io/not-ready, effect: NoExecute}]}\n"
	broken := strings.Replace(nodeWith("broken", "x", "4"), "status: {", "status: {conditions: [{type: Ready, status: \"False\"}], ", 1)
	const tolerated = ", tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]"
	text := "nodes:\n" + nodeWith("a", "x", "4") + nodeWith("b", "x", "4") + broken + taints + "pods:\n" +
		ownedBy("ReplicaSet", "web", "web-a", "a", "1") + ownedBy("ReplicaSet", "web", "web-b", "b", "1") + ownedBy("ReplicaSet", "big", "big-1", "broken", "3", "", tolerated)
	removed, err := Shrink(t.Context(), removing(t, unmodified, text, "a", "b", "broken"))
	testkit.Must(t, err)
	alike(t, "nodes that go", removed.Go, "broken")
}

// One may come back, what a budget keeps stays, and what is not chosen is left alone.
func TestDrainEvictsPodsInPlaceOfNodes(t *testing.T) {
	text := "nodes:\n" + nodeWith("a", "x", "4") + nodeWith("b", "x", "4") + "podDisruptionBudgets:\n" + budget("kept", 1) + "pods:\n" +
		ownedBy("ReplicaSet", "web", "web-a", "a", "1", ", annotations: {scheduler.wasmkwokwizardry.io/regex: ^b$}") +
		ownedBy("ReplicaSet", "web", "back", "b", "1", ", annotations: {scheduler.wasmkwokwizardry.io/regex: ^b$}") +
		ownedBy("ReplicaSet", "lost", "lost", "a", "3500m", ", annotations: {scheduler.wasmkwokwizardry.io/regex: ^b$}") +
		ownedBy("ReplicaSet", "kept", "kept-1", "a", "100m") + ownedBy("DaemonSet", "web", "daemon", "a", "100m") + ownedBy("ReplicaSet", "other", "other-1", "a", "100m")
	o := removing(t, native, text)
	o.Pods = labels.SelectorFromSet(nil)
	bare := o.Bare()
	if len(bare) > 0 {
		t.Errorf("no controller recreates %s", bare)
	}
	var err error
	if o.Pods, err = labels.Parse("app in (web,kept,lost)"); err != nil {
		t.Fatal(err)
	}
	removed, err := Drain(t.Context(), o)
	testkit.Must(t, err)
	alike(t, "moves", described(removed.Moves), "lost a→: 0/2 nodes are available: ", "kept-1 a→: The disruption budget kept needs 1 healthy pods and has 1 currently", "back b→b", "web-a a→b")
	to := removed.Moves[3]
	if to.Feasible != 1 || to.Workload != "ReplicaSet default/web" {
		t.Errorf("%+v", to)
	}
}

func TestRunsShowTheWorstDrainAndTheBestShrink(t *testing.T) {
	// Where the small pods go decides whether the big one has room.
	text := "nodes:\n" + nodeWith("gone", "x", "8") + nodeWith("a", "x", "4") + nodeWith("b", "x", "4") + "pods:\n" +
		ownedBy("ReplicaSet", "a", "a-1", "gone", "1") + ownedBy("ReplicaSet", "b", "b-1", "gone", "1") + ownedBy("ReplicaSet", "z", "z-1", "gone", "4")
	packed := unmodified + "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: example.com/none, weight: 1}]}}}], plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}, {name: PodTopologySpread}]}}}]\n"
	o := removing(t, packed, text, "gone")
	o.Runs = 12
	removed, err := Drain(t.Context(), o)
	testkit.Must(t, err)
	lost := map[int]bool{}
	for _, run := range removed.Basis.Runs {
		lost[run.Count] = true
	}
	if len(removed.Basis.Runs) != 12 || !lost[0] || !lost[1] || removed.Lost() != 1 || !strings.Contains(removed.Basis.String(), "12 times, with seeds 1 to 12: pods without a node: 0 in ") {
		t.Errorf("%d are lost. %s", removed.Lost(), removed.Basis.String())
	}
	o = removing(t, packed, text, "gone")
	o.Runs = 12
	found, err := Shrink(t.Context(), o)
	testkit.Must(t, err)
	alike(t, "the nodes that go", found.Go, "gone")
	o = removing(t, packed, text, found.Go...)
	o.Seed = found.Basis.Seed
	again, err := Drain(t.Context(), o)
	if err != nil || again.Lost() > 0 || !slices.Equal(described(again.Moves), described(found.Moves)) {
		t.Errorf("with seed %d: %v %v, %v", o.Seed, err, described(again.Moves), described(found.Moves))
	}
}

func TestDrainRecreatesContainersThatAWebhookInjected(t *testing.T) {
	cluster := "nodes:\n" + nodeWith("gone", "a", "4") + nodeWith("small", "a", "2") + `
replicaSets:
- metadata: {name: mesh, namespace: default, uid: mesh}
  spec:
    replicas: 1
    selector: {matchLabels: {app: mesh}}
    template:
      metadata: {labels: {app: mesh}}
      spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}
pods:
` + strings.Replace(ownedBy("ReplicaSet", "mesh", "mesh-1", "gone", "1"),
		"containers: [", `containers: [{name: proxy, image: proxy, resources: {requests: {cpu: 1500m}}}, `, 1)
	removed, err := Drain(t.Context(), removing(t, unmodified, cluster, "gone"))
	testkit.Must(t, err)
	alike(t, "moves", described(removed.Moves), "mesh-1 gone→: 0/2 nodes are available: 1 Insufficient cpu")
}

// TestNewPodsHaveWhatAdmissionAddedToOthersOfTheirWorkload: beyond the template of the pods' own revision.
func TestNewPodsHaveWhatAdmissionAddedToOthersOfTheirWorkload(t *testing.T) {
	tainted := func(name string) string {
		return nodeWith(name, "a", "4") + "  spec: {taints: [{key: gpu, effect: NoSchedule}]}\n"
	}
	const sets = `
replicaSets:
- metadata: {name: web, namespace: default, uid: web}
  spec:
    replicas: 1
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {TEMPLATE containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}
`
	const inX = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]}}}, "
	const tolerates = `tolerations: [{key: gpu, operator: Exists}], `
	const inferred = "Inferred from pods, since the file lacks them: what admission adds to pods of ReplicaSet default/web ("
	for name, test := range map[string]struct{ nodes, template, pod, want, says string }{
		"a nodeSelector": {
			nodeWith("gone", "a", "4") + nodeWith("other", "b", "4"), "", "nodeSelector: {topology.kubernetes.io/zone: a}, ",
			"web-1 gone→: 0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector", inferred + "nodeSelector)",
		},
		"a key of the nodeSelector": {
			nodeWith("gone", "a", "4") + nodeWith("other", "a", "4"), "nodeSelector: {topology.kubernetes.io/zone: a}, ", "nodeSelector: {topology.kubernetes.io/zone: a, pool: x}, ",
			"web-1 gone→: 0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector", inferred + "nodeSelector)",
		},
		"the node that something has chosen for a pod": {nodeWith("gone", "a", "4") + nodeWith("other", "a", "4"), "", "nodeSelector: {kubernetes.io/hostname: gone}, ", "web-1 gone→other", ""},
		"tolerations": {nodeWith("gone", "a", "4") + tainted("other"), "", tolerates, "web-1 gone→other", inferred + "tolerations)"},
		"tolerations that Kubernetes adds": {
			nodeWith("gone", "a", "4") + nodeWith("other", "a", "4"), "",
			"tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}], ", "web-1 gone→other", "",
		},
		"an affinity": {
			nodeWith("gone", "a", "4") + nodeWith("other", "b", "4"), "", inX,
			"web-1 gone→: 0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector", inferred + "affinity)",
		},
		"a scheduler":           {nodeWith("gone", "a", "4") + nodeWith("other", "a", "4"), "", "schedulerName: theirs, ", "web-1 gone→", inferred + "schedulerName)"},
		"what the template has": {nodeWith("gone", "a", "4") + nodeWith("other", "a", "4"), inX, inX, "web-1 gone→other", ""},
	} {
		text := "nodes:\n" + test.nodes + strings.Replace(sets, "TEMPLATE ", test.template, 1) + "pods:\n" +
			strings.Replace(ownedBy("ReplicaSet", "web", "web-1", "gone", "1"), "containers: [", test.pod+"containers: [", 1)
		removed, err := Drain(t.Context(), removing(t, unmodified, text, "gone"))
		testkit.Must(t, err)
		got, basis := described(removed.Moves), removed.Basis.String()
		if len(got) != 1 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if !strings.Contains(basis, test.says) || (test.says == "") != !strings.Contains(basis, "admission adds") {
			t.Errorf("%s: %s", name, basis)
		}
	}
}

// TestInjectedContainersAreMissingInThePodsOwnRevision: a template that has dropped one does not get it back.
func TestInjectedContainersAreMissingInThePodsOwnRevision(t *testing.T) {
	const (
		dropped = "{name: old, image: c, resources: {requests: {cpu: 2}}}, "
		set     = `
statefulSets:
- metadata: {name: db, namespace: default, uid: db}
  spec:
    replicas: 2
    serviceName: db
    STRATEGY
    selector: {matchLabels: {app: db}}
    template:
      metadata: {labels: {app: db}}
      spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}
  status: {replicas: 2, currentReplicas: 1, updatedReplicas: 1, currentRevision: db-old, updateRevision: db-new}
`
		revisions = `controllerRevisions:
- {metadata: {name: db-old, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: db, controller: true}]}, revision: 1, data: {spec: {template: {$patch: replace, metadata: {labels: {app: db}}, spec: {containers: [{name: old, image: c, resources: {requests: {cpu: 2}}}, {name: c, image: c, resources: {requests: {cpu: 1}}}]}}}}}
- {metadata: {name: db-new, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: db, controller: true}]}, revision: 2, data: {spec: {template: {$patch: replace, metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}}}}}
`
	)
	pod := func(name, node, revision, more string) string {
		return strings.NewReplacer("containers: [", "containers: ["+more, "labels: {", "labels: {controller-revision-hash: "+revision+", ").Replace(ownedBy("StatefulSet", "db", name, node, "1"))
	}
	for name, given := range map[string]string{"with revisions": revisions, "without": ""} {
		for _, strategy := range []string{"updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}", "updateStrategy: {type: OnDelete}"} {
			text := "nodes:\n" + nodeWith("a", "a", "3") + nodeWith("gone", "a", "4") + nodeWith("small", "a", "1") + strings.Replace(set, "STRATEGY", strategy, 1) + given +
				"pods:\n" + pod("db-0", "a", "db-old", dropped) + pod("db-1", "gone", "db-new", "")
			removed, err := Drain(t.Context(), removing(t, unmodified, text, "gone"))
			testkit.Must(t, err)
			alike(t, name+" "+strategy, described(removed.Moves), "db-1 gone→small")
			if strings.Contains(removed.Basis.String(), "admission adds") {
				t.Error(removed.Basis.String())
			}
		}
	}
}

// TestJobsThatMayNotFail: an eviction counts as a failure of a Job, unless its policy ignores disruptions.
func TestJobsThatMayNotFail(t *testing.T) {
	const job = `jobs:
- metadata: {name: work, namespace: default, uid: work}
  spec: {parallelism: 1, completions: 1, backoffLimit: 0, POLICYselector: {matchLabels: {app: work}}, template: {metadata: {labels: {app: work}}, spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}
pods:
- metadata: {name: work-1, namespace: default, labels: {app: work}, finalizers: [batch.kubernetes.io/job-tracking], ownerReferences: [{apiVersion: batch/v1, kind: Job, name: work, uid: work, controller: true}]}
  spec: {nodeName: a, restartPolicy: Never, containers: [{name: c, image: c}]}
`
	for policy, want := range map[string]string{
		"": "work-1 a→: ", "podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}, ": "work-1 a→b",
	} {
		for name, ask := range map[string]func(context.Context, Options) (*Result, error){"drain": Drain, "upgrade": Upgrade} {
			if name == "upgrade" {
				want = strings.Replace(want, "→b", "→", 1)
			}
			r, err := ask(t.Context(), removing(t, unmodified, "nodes:\n"+nodeWith("a", "a", "4")+nodeWith("b", "a", "4")+strings.Replace(job, "POLICY", policy, 1), "a"))
			testkit.Must(t, err)
			alike(t, name+" with "+policy, described(r.Moves), want)
			if (r.Lost() == 0) != (policy != "") {
				t.Errorf("%s: %d lost", name, r.Lost())
			}
		}
		r, err := Shrink(t.Context(), removing(t, unmodified, "nodes:\n"+nodeWith("a", "a", "4")+nodeWith("b", "a", "4")+strings.Replace(job, "POLICY", policy, 1), "a"))
		testkit.Must(t, err)
		if (len(r.Go) == 1) != (policy != "") || len(r.Go)+len(r.Stay) != 1 {
			t.Errorf("shrink with %q: %q can go, %v stay", policy, r.Go, r.Stay)
		}
	}
}

// TestJobThatFailsLosesItsPodsOnOtherNodes: its controller deletes them.
func TestJobThatFailsLosesItsPodsOnOtherNodes(t *testing.T) {
	const job = `jobs:
- metadata: {name: work, namespace: default, uid: work}
  spec: {parallelism: 2, completions: 2, backoffLimit: 0, selector: {matchLabels: {app: work}}, template: {metadata: {labels: {app: work}}, spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}
pods:
`
	pods := ""
	for _, node := range []string{"a", "b"} {
		pods += fmt.Sprintf(`- metadata: {name: work-%s, namespace: default, labels: {app: work}, finalizers: [batch.kubernetes.io/job-tracking], ownerReferences: [{apiVersion: batch/v1, kind: Job, name: work, uid: work, controller: true}]}
  spec: {nodeName: %[1]s, restartPolicy: Never, containers: [{name: c, image: c}]}
`, node)
	}
	for name, ask := range map[string]func(context.Context, Options) (*Result, error){"drain": Drain, "upgrade": Upgrade, "fail": Fail} {
		r, err := ask(t.Context(), removing(t, unmodified, "nodes:\n"+nodeWith("a", "a", "4")+nodeWith("b", "a", "4")+job+pods, "a"))
		testkit.Must(t, err)
		alike(t, name, described(r.Moves), "work-a a→: its Job has failed: ", "work-b b→: its Job has failed: Job has reached the specified backoff limit")
	}
	r, err := Shrink(t.Context(), removing(t, unmodified, "nodes:\n"+nodeWith("a", "a", "4")+nodeWith("b", "a", "4")+job+pods, "a", "b"))
	testkit.Must(t, err)
	if len(r.Go) > 0 || len(r.Stay) != 2 || r.Stay[0].Node == r.Stay[1].Node {
		t.Errorf("shrink: %q can go, %v stay", r.Go, r.Stay)
	}
}
