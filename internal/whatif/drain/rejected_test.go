package drain

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// caseOf removes nodes of the cluster of a case.
func caseOf(t *testing.T, file string, nodes ...string) Options {
	t.Helper()
	cluster, err := os.ReadFile("../testdata/cases/" + file)
	testkit.Must(t, err)
	o := removing(t, unmodified, string(cluster), nodes...)
	o.Cluster.Source = nil // it is all of the cluster
	return o
}

// says fails unless the text of a result has some lines.
func says(t *testing.T, r *Result, want ...string) {
	t.Helper()
	is := text(t, r, "table")
	for _, line := range want {
		if !strings.Contains(is, line) {
			t.Errorf("it lacks %q:\n%s", line, is)
		}
	}
}

// TestFailReportsARejectionUntilTheGracePeriodIsOver: the quota counts the pod that cannot end for a minute. Then its ReplicaSet
// has another one.
func TestFailReportsARejectionUntilTheGracePeriodIsOver(t *testing.T) {
	r, err := Fail(t.Context(), caseOf(t, "fail-reason/cluster.json", "n1"))
	testkit.Must(t, err)
	alike(t, "moves", described(r.Moves), "team/web-5f-1 n1→n2")
	says(t, r, "If n1 failed, all of 1 pod would be back on other nodes.", "+5m50s   Deployment team/web   1 pod deleted", "+7m", "1 pod created, 1 scheduled")

	o := caseOf(t, "fail-reason/cluster.json", "n1")
	o.Cluster.ResourceQuotas[0].Spec.Hard[v1.ResourcePods] = resource.MustParse("0")
	r, err = Fail(t.Context(), o)
	testkit.Must(t, err)
	says(t, r, "1 pod: 0 to another node, 0 unschedulable, 1 not created.", "the API server rejects it: exceeded quota: rqtest, requested: pods=1, used: pods=0, limited: pods=0")
}

// unreachable is the cluster of the case with three nodes and a pod on each of the first two. The first is unreachable already.
func unreachable(t *testing.T, nodes ...string) Options {
	o := caseOf(t, "fail-reason/cluster.json", nodes...)
	s := o.Cluster
	s.ResourceQuotas = nil
	s.Nodes[0].Status.Conditions[0].Status = v1.ConditionUnknown
	s.Nodes[0].Spec.Taints = []v1.Taint{{Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoExecute}}
	third := s.Nodes[1].DeepCopy()
	third.Name, third.Labels = "n3", map[string]string{v1.LabelHostname: "n3"}
	s.Nodes = append(s.Nodes, *third)
	other := s.Pods[0].DeepCopy()
	other.Name, other.Spec.NodeName = "web-5f-2", "n2"
	s.Pods = append(s.Pods, *other)
	s.Deployments[0].Spec.Replicas, s.ReplicaSets[0].Spec.Replicas = ptr.To[int32](2), ptr.To[int32](2)
	return o
}

// TestPodsThatAreTerminatingBefore: their successors are there before the question, and no other pod gets them.
func TestPodsThatAreTerminatingBefore(t *testing.T) {
	r, err := Fail(t.Context(), unreachable(t, "n1"))
	testkit.Must(t, err)
	alike(t, "moves of a node that is unreachable already", described(r.Moves), "team/web-5f-1 n1→n")
	says(t, r, "If n1 failed, all of 1 pod would be back on other nodes.")
	r, err = Drain(t.Context(), unreachable(t, "n2"))
	testkit.Must(t, err)
	for _, move := range r.Moves {
		if move.To != "n3" {
			t.Errorf("%+v", move)
		}
	}
	says(t, r, "Draining n2 would move ", fmt.Sprintf(": %d to another node, 0 unschedulable.", len(r.Moves)))
	if len(r.Moves) == 0 {
		t.Error("no pod moves")
	}
}

// TestTerminatingPodOfAnotherNodeHasNotMoved: it was lost before the question, and stays so.
func TestTerminatingPodOfAnotherNodeHasNotMoved(t *testing.T) {
	for name, ask := range map[string]func(context.Context, Options) (*Result, error){"drain": Drain, "upgrade": Upgrade} {
		o := removing(t, unmodified, "nodes:\n"+nodeWith("n1", "a", "4")+nodeWith("n2", "a", "4")+nodeWith("dead", "a", "4")+
			"pods:\n"+ownedBy("ReplicaSet", "web", "web-1", "n1", "1")+
			ownedBy("StatefulSet", "db", "db-0", "dead", "1", `, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30`), "n1")
		o.Cluster.Nodes[2].Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionUnknown}}
		r, err := ask(t.Context(), o)
		testkit.Must(t, err)
		alike(t, "moves of "+name, described(r.Moves), "web-1 n1→n2")
	}
}

// TestPodOfANodeThatIsOutOfServiceIsRecreated: PodGC deletes it before the question.
func TestPodOfANodeThatIsOutOfServiceIsRecreated(t *testing.T) {
	for effect, state := range map[v1.TaintEffect]v1.ConditionStatus{v1.TaintEffectNoExecute: v1.ConditionUnknown, v1.TaintEffectNoSchedule: v1.ConditionFalse} {
		o := removing(t, unmodified, "nodes:\n"+nodeWith("n1", "a", "4")+nodeWith("n2", "a", "4")+nodeWith("dead", "a", "4")+
			"statefulSets:\n- metadata: {name: db, namespace: default, uid: db}\n  spec: {replicas: 1, serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, "+
			"spec: {containers: [{name: c, image: a, resources: {requests: {cpu: \"4\"}}}]}}}\n"+
			"pods:\n"+ownedBy("ReplicaSet", "web", "web-1", "n1", "1")+
			ownedBy("StatefulSet", "db", "db-0", "dead", "4", `, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30`), "n1")
		o.Cluster.Nodes[2].Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: state}}
		o.Cluster.Nodes[2].Spec.Taints = []v1.Taint{{Key: v1.TaintNodeOutOfService, Effect: effect}}
		r, err := Drain(t.Context(), o)
		testkit.Must(t, err)
		alike(t, "moves with "+string(effect), described(r.Moves), "web-1 n1→: 0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable")
	}
}

// TestNotCreatedPodsOfADrain: a LimitRange admits the pod no more, whether or not a controller creates it.
func TestNotCreatedPodsOfADrain(t *testing.T) {
	without := func(bare bool) Options {
		o := caseOf(t, "rejected-rollout/limitrange.json", "n1")
		o.Cluster.LimitRanges[0].Spec.Limits[0].Max[v1.ResourceMemory] = resource.MustParse("10Mi")
		o.Cluster.LimitRanges[0].Spec.Limits[0].Default = nil
		o.Force = bare
		if bare {
			o.Cluster.Pods[0].OwnerReferences, o.Cluster.Deployments, o.Cluster.ReplicaSets = nil, nil, nil
		}
		o.Cluster.Nodes = append(o.Cluster.Nodes, *o.Cluster.Nodes[0].DeepCopy())
		o.Cluster.Nodes[1].Name = "n2"
		return o
	}
	const reason = `the API server rejects it: spec.containers[0].resources.requests: Invalid value: "100Mi": must be less than or equal to memory limit of 10Mi`
	for _, bare := range []bool{false, true} {
		r, err := Drain(t.Context(), without(bare))
		testkit.Must(t, err)
		says(t, r, "1 pod: 0 to another node, 0 unschedulable, 1 not created.", "NOT CREATED", reason)
	}
	r, err := Shrink(t.Context(), without(false))
	testkit.Must(t, err)
	says(t, r, "You can remove none of 1 node", "1 node cannot go: "+reason)
}

// TestUpgradeReportsPodsOfDaemonSets: one is rejected by pod security, one is fine, and one is not in the file.
func TestUpgradeReportsPodsOfDaemonSets(t *testing.T) {
	r, err := Upgrade(t.Context(), caseOf(t, "rejected/daemonsets.yaml", "n1"))
	testkit.Must(t, err)
	alike(t, "moves", described(r.Moves), `agents/agent-1 n1→: the API server rejects it: violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true)`)
	says(t, r, "The upgrade would replace all of 1 node, and 1 of 1 pod would have no node in the end.", "pods on new nodes of DaemonSets that are not in the file: default/absent")
	o := caseOf(t, "rejected/daemonsets.yaml", "n1")
	o.Node = o.Cluster.Nodes[0].DeepCopy()
	o.Node.Status.Allocatable[v1.ResourcePods], o.Node.Status.Capacity[v1.ResourcePods] = resource.MustParse("0"), resource.MustParse("0")
	r, err = Upgrade(t.Context(), o)
	testkit.Must(t, err)
	alike(t, "moves to a node without room", described(r.Moves), "agents/agent-1 n1→: the API server rejects it", "fine-1 n1→: 0/2 nodes are available: 1 Too many pods")
}

// TestUpgradeGivesNewNodesTheDriversOfOldOnes: n1 and n2 attach a disk each.
func TestUpgradeGivesNewNodesTheDriversOfOldOnes(t *testing.T) {
	r, err := Upgrade(t.Context(), caseOf(t, "grow-csi/running.yaml", "n1"))
	testkit.Must(t, err)
	alike(t, "moves", described(r.Moves), "web-0 n1→n1-new")
	o := caseOf(t, "grow-csi/running.yaml", "n1")
	o.Cluster.CSINodes[0].Spec.Drivers[0].Allocatable.Count = ptr.To[int32](0)
	r, err = Upgrade(t.Context(), o)
	testkit.Must(t, err)
	alike(t, "moves to a node that attaches none", described(r.Moves), "web-0 n1→: 0/2 nodes are available: 2 node(s) exceed max volume count")
}

// TestUpgradeGivesNewNodesTheDevicesOfOldOnes: a pod has the device of d, and another one is pending for lack of one.
func TestUpgradeGivesNewNodesTheDevicesOfOldOnes(t *testing.T) {
	o := removing(t, unmodified, withDevices(), "d")
	o.Surge = 1
	r, err := Upgrade(t.Context(), o)
	testkit.Must(t, err)
	if len(r.Moves) != 1 || r.Moves[0].From != "d" || r.Moves[0].To == "" || r.Lost() > 0 {
		t.Errorf("moves are %v", described(r.Moves))
	}
}

// TestPodsThatKubeletsRejectDoNotMove: a Deployment's template names a node that has no room, so that its ReplicaSet creates one pod
// after the other. None of them runs before the question.
func TestPodsThatKubeletsRejectDoNotMove(t *testing.T) {
	for name, ask := range map[string]func(context.Context, Options) (*Result, error){"drain": Drain, "fail": Fail, "upgrade": Upgrade} {
		o := removing(t, unmodified, "nodes:\n"+nodeWith("n1", "a", "4")+nodeWith("n2", "a", "4")+nodeWith("n3", "a", "4")+
			"pods:\n"+ownedBy("ReplicaSet", "db", "db-1", "n1", "1")+
			`deployments: [{metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
  spec: {nodeName: n1, containers: [{name: c, image: c, resources: {requests: {cpu: "100"}}}]}}}}]`, "n1")
		r, err := ask(t.Context(), o)
		testkit.Must(t, err)
		if len(r.Moves) != 1 || r.Moves[0].Pod != "default/db-1" || r.Moves[0].To == "" {
			t.Errorf("moves of %s: %d, such as %v", name, len(r.Moves), described(r.Moves[:min(5, len(r.Moves))]))
		}
		says(t, r, "Stopped looking: replicaset-controller at default/web-", "controllers created 30 pods of Deployment default/web")
		if strings.Contains(text(t, r, "table"), "00 pod") {
			t.Errorf("%s has thousands of pods: %s", name, text(t, r, "table"))
		}
	}
}

// TestPodsThatAKubeletRejectsDidNotWait: the template names n1, and has room there for two of its three pods. Their ReplicaSet
// creates others again and again, until the node's kubelet is silent: then they are pending there, as long as they tolerate that.
func TestPodsThatAKubeletRejectsDidNotWait(t *testing.T) {
	r, err := Upgrade(t.Context(), caseOf(t, "named-node/cluster.yaml", "n1"))
	testkit.Must(t, err)
	table := text(t, r, "table")
	if len(r.Timeline.Waits) > 0 || !strings.Contains(table, "10 rejected by the kubelet") {
		t.Errorf("waits: %+v in %s", r.Timeline.Waits, table)
	}
	r, err = Fail(t.Context(), caseOf(t, "named-node/cluster.yaml", "n1"))
	testkit.Must(t, err)
	alike(t, "events", events(r.Timeline, "Deployment")[:2], "50  default/web created", "350  default/web deleted")
	alike(t, "waits", waits(r.Timeline)[:2], "Deployment default/web 1 0-5: the kubelet of node n1 does not answer", "Deployment default/web 3 5-10: the kubelet of node n1 does not answer")
}
