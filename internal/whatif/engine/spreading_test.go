package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/internal/private"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// spreadings are constraints of pods; APP is the app.
var spreadings = []string{
	"",
	"topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: APP}}}], ",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: APP}}}], ",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: APP}}}, " +
		"{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [APP]}]}}], ",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, minDomains: 4, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: APP}}}], ",
	"nodeSelector: {disk: ssd}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: APP}}}], ",
	"nodeSelector: {disk: ssd}, topologySpreadConstraints: [{maxSkew: 3, topologyKey: zone, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, " +
		"whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [app], labelSelector: {}}], ",
}

// TestPodsSpreadAsOverAllNodes: the other engine's plugins count pods on all nodes.
func TestPodsSpreadAsOverAllNodes(t *testing.T) {
	in := "services: [{metadata: {name: a, namespace: default}, spec: {selector: {app: a}}}]\nnodes:\n"
	for i := range 40 {
		more := []string{"", ", disk: ssd"}[i%2]
		if i%13 > 0 {
			more += fmt.Sprint(", zone: ", string("abc"[i%3]))
		}
		in += fmt.Sprintf("- metadata: {name: n%02d, labels: {kubernetes.io/hostname: n%02[1]d%s}}\n  status: {allocatable: {cpu: %q, memory: 8Gi, pods: '10'}}\n", i, more, fmt.Sprint(2+i%5))
	}
	engines := [2]*Engine{over(t, read(t, in), nil), over(t, read(t, in), nil)}
	of := implementation(engines[1].Scheduler.Kube.Profiles["default-scheduler"])
	plugin := (*private.Field[map[string]fwk.Plugin](of, "pluginsMap"))[names.PodTopologySpread]
	*private.Field[fwk.SharedLister](plugin, "sharedLister") = of.SnapshotSharedLister()
	private.Wrap(of, "preFilterPlugins", func(p fwk.PreFilterPlugin) fwk.PreFilterPlugin {
		if p.Name() == names.PodTopologySpread {
			return plugin.(fwk.PreFilterPlugin)
		}
		return p
	})
	rejected := false
	for round := range 6 {
		var got [2]string
		for i, e := range engines {
			random := rand.New(rand.NewPCG(1, uint64(round)))
			for j := range 40 {
				app := string("abc"[random.IntN(3)])
				more := spreadings[random.IntN(len(spreadings))]
				p := read(t, "pods:\n"+pod(fmt.Sprint("p", round, "-", j), "", "500m", strings.ReplaceAll(more, "APP", app))).Pods[0]
				p.Labels["app"] = app
				_, err := e.Cluster.Create(t.Context(), &p)
				testkit.Must(t, err)
			}
			got[i] = outcomes(t, e)
			for _, p := range cluster.All[*v1.Pod](e.Cluster) {
				if random.IntN(3) == 0 {
					e.Cluster.Delete(p)
				}
			}
			for _, n := range cluster.All[*v1.Node](e.Cluster) {
				if random.IntN(4) > 0 {
					continue
				}
				n = n.DeepCopy()
				n.Spec.Unschedulable = random.IntN(2) > 0
				n.Labels["zone"] = string("abcd"[random.IntN(4)])
				testkit.Must(t, e.Cluster.Update(n))
			}
		}
		if got[0] != got[1] {
			t.Fatalf("round %d: got\n%s\nwant\n%s", round, got[0], got[1])
		}
		rejected = rejected || strings.Contains(got[0], "didn't match pod topology spread constraints")
	}
	if !rejected {
		t.Error("no node was rejected")
	}
}
