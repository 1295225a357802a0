package engine

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// workload is a manifest whose pods ask for a CPU.
func workload(kind, version, name, spec, podSpec string) string {
	selector := fmt.Sprintf("selector: {matchLabels: {app: %s}}, ", name)
	if kind == "Job" {
		selector = ""
	}
	return fmt.Sprintf(`
apiVersion: %s
kind: %s
metadata: {name: %s, namespace: default}
spec: {%s, %stemplate: {metadata: {labels: {app: %[3]s}}, spec: {%[6]s containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]}}}
---`, version, kind, name, spec, selector, podSpec)
}

// underControl is a cluster of nodes with 4 CPUs, in which a manifest's objects are created when its controllers run.
func underControl(t testing.TB, nodes int, manifests string) *Engine {
	t.Helper()
	text := "nodes:\n"
	for i := range nodes {
		text += node(fmt.Sprint("n", i), "4")
	}
	e := over(t, read(t, text), func(o *Options) { o.Workloads = Workloads })
	settle(t, e)
	if manifests == "" {
		return e
	}
	made := read(t, manifests)
	var objects []cluster.Object
	for i := range made.Deployments {
		objects = append(objects, &made.Deployments[i])
	}
	for i := range made.StatefulSets {
		objects = append(objects, &made.StatefulSets[i])
	}
	for i := range made.DaemonSets {
		objects = append(objects, &made.DaemonSets[i])
	}
	for i := range made.Jobs {
		objects = append(objects, &made.Jobs[i])
	}
	for i := range made.PodDisruptionBudgets {
		objects = append(objects, &made.PodDisruptionBudgets[i])
	}
	for _, o := range objects {
		if _, err := e.Cluster.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, e)
	return e
}

func settle(t testing.TB, e *Engine) {
	t.Helper()
	testkit.Must(t, e.Run(t.Context()))
}

// placed are the pods and their nodes, a line each, by name.
func placed(e *Engine) string {
	var lines []string
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		lines = append(lines, pod.Name+" "+pod.Spec.NodeName)
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// byWorkload counts the pods that run, by app.
func byWorkload(e *Engine) map[string]int {
	count := map[string]int{}
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if pod.Spec.NodeName != "" && pod.Status.Phase == v1.PodRunning {
			count[pod.Labels["app"]]++
		}
	}
	return count
}

// wantRunning fails unless all pods of webAndMore run.
func wantRunning(t *testing.T, e *Engine) {
	t.Helper()
	got, want := fmt.Sprint(byWorkload(e)), "map[agent:3 db:2 sum:2 web:3]"
	if got != want {
		t.Errorf("running are %s, want %s; pods: %s", got, want, placed(e))
	}
}

const budgetOfWeb = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
---`

func webAndMore() string {
	return workload("Deployment", "apps/v1", "web", "replicas: 3", "") + workload("StatefulSet", "apps/v1", "db", "replicas: 2, serviceName: db", "") +
		workload("DaemonSet", "apps/v1", "agent", "updateStrategy: {type: RollingUpdate}", "") +
		workload("Job", "batch/v1", "sum", "parallelism: 2, completions: 2", "restartPolicy: Never,") + budgetOfWeb
}

func TestControllersMakeThePodsOfEachKind(t *testing.T) {
	e := underControl(t, 3, webAndMore())
	wantRunning(t, e)
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		labels := map[string]string{"web": "pod-template-hash", "db": "controller-revision-hash", "agent": "controller-revision-hash", "sum": "batch.kubernetes.io/job-name"}
		if pod.Labels[labels[pod.Labels["app"]]] == "" {
			t.Errorf("pod %s has labels %v", pod.Name, pod.Labels)
		}
	}
	d := cluster.Get[*appsv1.Deployment](e.Cluster, "default", "web")
	if d.Status.AvailableReplicas != 3 {
		t.Errorf("the Deployment has status %+v", d.Status)
	}
	job := cluster.Get[*batchv1.Job](e.Cluster, "default", "sum")
	if job.Status.Active != 2 {
		t.Errorf("the Job has status %+v", job.Status)
	}
	missing := e.Cluster.NotModelled()
	if len(missing) > 0 {
		t.Errorf("not modelled: %v", missing)
	}
}

func TestEvictedPodsAreRecreatedByTheirControllers(t *testing.T) {
	e := underControl(t, 3, webAndMore())
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if pod.Labels["app"] == "agent" || pod.Spec.NodeName != "n0" {
			continue
		}
		testkit.Must(t, e.Cluster.Evict(pod.Namespace, pod.Name))
		settle(t, e)
	}
	wantRunning(t, e)
}

func TestDescriptionSaysWhatControllersChangedBeforeTheQuestion(t *testing.T) {
	template := "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x}]}}"
	owned := func(name, kind, owner, uid, more string) string {
		return "- {metadata: {name: " + name + ", uid: of-" + name + ", labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: " + kind + ", name: " + owner + ", uid: " + uid + ", controller: true}]}, " + more + "}\n"
	}
	for _, test := range []struct{ about, cluster, want string }{
		{"nothing", node("b", "4") + "pods:\n" + owned("web-a", "ReplicaSet", "web", "r", "spec: {nodeName: b, containers: [{name: c, image: x}]}"), ""},
		{
			"a ReplicaSet without the labels of its Deployment", node("b", "4") + "deployments: [{metadata: {name: web, uid: d}, spec: {replicas: 1, " + template + "}}]\nreplicaSets:\n" +
				strings.Replace(owned("old", "Deployment", "web", "d", "spec: {replicas: 1, "+template+"}"), "labels: {app: web}, ", "", 1) +
				"pods:\n" + owned("web-a", "ReplicaSet", "old", "of-old", "spec: {nodeName: b, containers: [{name: c, image: x}]}"),
			"controllers created 1 pod of Deployment default/web, controllers gave 1 pod of Deployment default/web to ReplicaSet default/old",
		},
		{
			"bare pods that a ReplicaSet selects, one more than it wants", node("b", "4") + "replicaSets: [{metadata: {name: web, uid: r}, spec: {replicas: 1, " + template + "}}]\npods:\n" +
				"- {metadata: {name: web-a, labels: {app: web}}, spec: {nodeName: b, containers: [{name: c, image: x}]}}\n" +
				"- {metadata: {name: web-b, labels: {app: web}}, spec: {nodeName: b, containers: [{name: c, image: x}]}}\n",
			"controllers deleted 1 pod of no workload, controllers gave 1 pod of no workload to ReplicaSet default/web",
		},
		{
			"a node that evicts, and one whose cordon has no taint yet", "- {metadata: {name: a}, spec: {unschedulable: true, taints: [{key: x, effect: NoExecute}]}}\n" + node("b", "4") +
				"pods:\n" + owned("web-a", "ReplicaSet", "web", "r", "spec: {nodeName: a, containers: [{name: c, image: x}]}") + pod("bare", "a", "1", ""),
			"controllers created 1 pod of ReplicaSet default/web, controllers deleted 1 pod of ReplicaSet default/web, controllers deleted 1 pod of no workload, " +
				"the node controller changed the taints of 1 node",
		},
		{
			"a pending pod that preempts", node("b", "4") + "pods:\n" + owned("web-a", "ReplicaSet", "web", "r", `spec: {nodeName: b, containers: [{name: c, image: x, resources: {requests: {cpu: "3"}}}]}`) +
				pod("high", "", "3", "priority: 10, priorityClassName: high,"),
			"controllers created 1 pod of ReplicaSet default/web, the scheduler preempted 1 pod of ReplicaSet default/web",
		},
	} {
		e := over(t, read(t, "nodes:\n"+test.cluster), func(o *Options) { o.Workloads = Workloads })
		if err := e.RunBeforeQuestion(t.Context()); err != nil {
			t.Fatal(err)
		}
		basis := e.Describe()
		got := strings.Join(basis.Before, ", ")
		if got != test.want {
			t.Errorf("%s: before the question,\n%s\nwant\n%s", test.about, got, test.want)
		}
		if test.want != "" && !strings.Contains(basis.String(), "Before the question, "+test.want) {
			t.Errorf("%s: the report says only %s", test.about, basis.String())
		}
	}
}

func TestBudgetIsCountedByItsController(t *testing.T) {
	e := underControl(t, 3, webAndMore())
	allowed := func() int32 {
		return cluster.Get[*policyv1.PodDisruptionBudget](e.Cluster, "default", "web").Status.DisruptionsAllowed
	}
	if allowed() != 1 {
		t.Fatalf("%d evictions are allowed", allowed())
	}
	var results []bool
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if pod.Labels["app"] == "web" {
			results = append(results, e.Cluster.Evict(pod.Namespace, pod.Name) == nil)
		}
	}
	if fmt.Sprint(results) != "[true false false]" {
		t.Errorf("evictions at once: %v", results)
	}
	settle(t, e)
	if allowed() != 1 {
		t.Errorf("%d evictions are allowed once the pod is back", allowed())
	}
}

func TestCordonHasItsTaint(t *testing.T) {
	e := underControl(t, 1, "")
	for _, cordoned := range []bool{true, false} {
		n := cluster.Get[*v1.Node](e.Cluster, "", "n0").DeepCopy()
		n.Spec.Unschedulable = cordoned
		testkit.Must(t, e.Cluster.Update(n))
		settle(t, e)
		taints := cluster.Get[*v1.Node](e.Cluster, "", "n0").Spec.Taints
		has := slices.ContainsFunc(taints, func(t v1.Taint) bool {
			return t.Key == v1.TaintNodeUnschedulable && t.Effect == v1.TaintEffectNoSchedule
		})
		if has != cordoned {
			t.Errorf("cordoned: %v, taints: %v", cordoned, taints)
		}
	}
}

func TestRolloutEndsWithTheNewTemplate(t *testing.T) {
	e := underControl(t, 3, webAndMore())
	d := cluster.Get[*appsv1.Deployment](e.Cluster, "default", "web").DeepCopy()
	d.Spec.Template.Spec.Containers[0].Image = "b"
	testkit.Must(t, e.Cluster.Update(d))
	settle(t, e)
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if pod.Labels["app"] == "web" && pod.Spec.Containers[0].Image != "b" {
			t.Errorf("pod %s has image %s", pod.Name, pod.Spec.Containers[0].Image)
		}
	}
	now := cluster.Get[*appsv1.Deployment](e.Cluster, "default", "web").Status
	if now.UpdatedReplicas != 3 || now.AvailableReplicas != 3 {
		t.Errorf("status %+v", now)
	}
}

// Each pod is rejected by its kubelet, and replaced at once.
func TestLoopOfAControllerEndsAndIsReported(t *testing.T) {
	e := underControl(t, 1, workload("Deployment", "apps/v1", "web", "replicas: 1", "nodeName: n0, nodeSelector: {none: has}, "))
	got := fmt.Sprint(e.Describe().Stopped)
	testkit.Has(t, got, "replicaset-controller at default/web-", ", since it changed something again and again")
}

// Each pod names its node, does not tolerate a taint of that, and is evicted at once.
func TestLoopOfAControllerAndAnEvictionEndsAndIsReported(t *testing.T) {
	for _, tolerates := range []string{"", "tolerations: [{key: team, operator: Exists, tolerationSeconds: 0, effect: NoExecute}], "} {
		e := underControl(t, 1, workload("Deployment", "apps/v1", "web", "replicas: 1", "nodeName: n0, "+tolerates))
		node := cluster.Get[*v1.Node](e.Cluster, "", "n0").DeepCopy()
		node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: "team", Effect: v1.TaintEffectNoExecute})
		before := e.Cluster.Version()
		testkit.Must(t, e.Cluster.Update(node))
		settle(t, e)
		testkit.Has(t, fmt.Sprint(e.Describe().Stopped), "replicaset-controller at default/web-", ", since it changed something again and again")
		const enough = 300 // writes, some ten for each pod
		writes := e.Cluster.Version() - before
		if writes > enough {
			t.Errorf("it ends after %d writes", writes)
		}
	}
}

func TestControllersDoTheSameEachTime(t *testing.T) {
	all := func() string {
		e := underControl(t, 3, webAndMore())
		n := cluster.Get[*v1.Node](e.Cluster, "", "n0").DeepCopy()
		n.Spec.Unschedulable = true
		testkit.Must(t, e.Cluster.Update(n))
		for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
			if pod.Spec.NodeName == "n0" && pod.Labels["app"] != "agent" {
				e.Cluster.Delete(pod)
			}
		}
		settle(t, e)
		var lines []string
		for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
			lines = append(lines, fmt.Sprint(pod.Name, " ", pod.UID, " ", pod.Spec.NodeName, " ", pod.Status.Phase, " ", pod.Labels))
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	first := all()
	for i := range 12 {
		was := runtime.GOMAXPROCS(1 + i%2)
		got := all()
		runtime.GOMAXPROCS(was)
		if got != first {
			t.Fatalf("run %d:\n%s\nthe first:\n%s", i, got, first)
		}
	}
}

func TestRollbackTakesBackWhatControllersDid(t *testing.T) {
	e := underControl(t, 3, webAndMore())
	before := placed(e)
	rollback, _ := e.Try()
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if pod.Labels["app"] == "web" {
			e.Cluster.Delete(pod)
		}
	}
	settle(t, e)
	if placed(e) == before {
		t.Error("nothing was recreated")
	}
	rollback()
	settle(t, e)
	after := placed(e)
	if after != before {
		t.Errorf("after the rollback:\n%s\nbefore:\n%s", after, before)
	}
}

// A controller has no goroutine of its own, which would write beside the engine: the Job controller's for orphans did.
func TestControllersWorkWhileTheEngineSyncsThemAndAtNoOtherTime(t *testing.T) {
	e := underControl(t, 3, webAndMore())
	stacks := make([]byte, 1<<22)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, "k8s.io/kubernetes/pkg/controller/") {
			t.Errorf("a controller has\n%s", stack)
		}
	}
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		orphan := pod.DeepCopy()
		orphan.OwnerReferences = nil
		testkit.Must(t, e.Cluster.Update(orphan))
		e.Cluster.Delete(orphan)
	}
	testkit.Must(t, e.SyncControllers(t.Context()))
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if pod.DeletionTimestamp != nil {
			t.Errorf("pod %s still has %v", pod.Name, pod.Finalizers)
		}
	}
}

func TestMinReadySecondsPassInTheEngine(t *testing.T) {
	e := underControl(t, 3, workload("DaemonSet", "apps/v1", "agent", "minReadySeconds: 300, updateStrategy: {type: RollingUpdate}", ""))
	daemons := cluster.Get[*appsv1.DaemonSet](e.Cluster, "default", "agent").DeepCopy()
	daemons.Spec.Template.Spec.Containers[0].Image = "b"
	testkit.Must(t, e.Cluster.Update(daemons))
	status := func() appsv1.DaemonSetStatus {
		return cluster.Get[*appsv1.DaemonSet](e.Cluster, "default", "agent").Status
	}
	testkit.Must(t, e.RunFor(t.Context(), time.Minute))
	if status().UpdatedNumberScheduled != 1 {
		t.Errorf("after a minute the DaemonSet has status %+v", status())
	}
	settle(t, e)
	if status().UpdatedNumberScheduled != 3 || status().NumberAvailable != 3 {
		t.Errorf("after an hour the DaemonSet has status %+v", status())
	}
	rc := &v1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: "old", Namespace: "default"}, Spec: v1.ReplicationControllerSpec{
		Replicas: ptr.To[int32](2), MinReadySeconds: 300, Selector: map[string]string{"app": "old"},
		Template: &v1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "old"}}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "a"}}},
		},
	}}
	_, err := e.Cluster.Create(t.Context(), rc)
	testkit.Must(t, err)
	testkit.Must(t, e.RunFor(t.Context(), time.Minute))
	available := func() int32 {
		return cluster.Get[*v1.ReplicationController](e.Cluster, "default", "old").Status.AvailableReplicas
	}
	if available() != 0 {
		t.Errorf("after a minute %d are available", available())
	}
	settle(t, e)
	if available() != 2 {
		t.Errorf("after an hour %d are available", available())
	}
}

// TestPodsThatTerminateOnANodeThatComesOutOfServiceGo: PodGC deletes them, so that their StatefulSet recreates them.
func TestPodsThatTerminateOnANodeThatComesOutOfServiceGo(t *testing.T) {
	e := underControl(t, 2, workload("StatefulSet", "apps/v1", "db", "replicas: 1", ""))
	pod := cluster.Get[*v1.Pod](e.Cluster, "default", "db-0")
	e.Cluster.FailNode(pod.Spec.NodeName)
	e.Cluster.Delete(pod)
	settle(t, e)
	if e.Cluster.Terminating(pod) == "" {
		t.Fatal("it does not stay terminating")
	}
	node := cluster.Get[*v1.Node](e.Cluster, "", pod.Spec.NodeName).DeepCopy()
	node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: v1.TaintNodeOutOfService, Effect: v1.TaintEffectNoSchedule})
	testkit.Must(t, e.Cluster.Update(node))
	settle(t, e)
	now := cluster.Get[*v1.Pod](e.Cluster, "default", "db-0")
	if now == nil || now.UID == pod.UID || now.Spec.NodeName == "" || now.Spec.NodeName == pod.Spec.NodeName {
		t.Errorf("%+v", now)
	}
}
