package browsertest

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// nodePanel opens the panel of a node.
func (p *tab) nodePanel(name string) {
	p.Helper()
	p.click("#node-" + name)
	p.waitFor("the panel is open", "document.querySelector('#panel').open && !!document.querySelector('#panel #cordon')")
}

// fitsEverywhere is fits at 1280 and at 390 px.
func (p *tab) fitsEverywhere(see string) {
	p.Helper()
	p.fits(see)
	p.onAPhone(func() { p.fits(see) })
}

func TestNodeIsCordonedAndTaintedByButtons(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	p.nodePanel("kubecon-1")
	p.click("#cordon")
	p.says("#notices", "Cordoned kubecon-1")
	p.says("#panel .facts", "cordoned")
	p.says("#cordon", "Uncordon")
	p.says(".card .state", "cordoned")
	p.click("#cordon")
	p.says("#panel .facts", "ready")
	p.says("#notices", "Uncordoned kubecon-1")

	p.click("#taint-node")
	p.typeIn("#taint", "dedicated=gpu:Never")
	p.click("#editor .submit")
	p.says("#problems", "unsupported taint effect: write key=value:NoSchedule")
	p.fitsEverywhere("#editor h1, #taint, #problems, #editor .submit")
	p.paste("#taint", "dedicated=gpu:NoSchedule")
	p.submit()
	p.says("#panel .facts", "dedicated=gpu:NoSchedule")
	p.fitsEverywhere(".operations button, .operations a, #panel .untaint, #panel .close")
	p.click("#panel .untaint")
	p.waitFor("the taint is gone, and the panel is still open", "document.querySelector('#panel').open && !document.querySelector('#panel .untaint')")
	node, err := sim.Client().CoreV1().Nodes().Get(t.Context(), "kubecon-1", metav1.GetOptions{})
	if err != nil || len(node.Spec.Taints) > 0 || node.Spec.Unschedulable {
		t.Errorf("the node is %+v, %v", node, err)
	}
}

// full are a Deployment of two pods with a budget, a DaemonSet, and a pod without a controller.
const full = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: web, image: web}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: alone, labels: {app: alone}}
spec: {containers: [{name: web, image: web}]}
`

// on is the number of running pods of an app on a node.
func (p *tab) on(node, app string) (running int) {
	p.Helper()
	pods, err := sim.Client().CoreV1().Pods("default").List(p.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	testkit.Must(p, err)
	for _, pod := range pods.Items {
		if pod.Spec.NodeName == node && pod.DeletionTimestamp == nil && pod.Status.Phase == v1.PodRunning {
			running++
		}
	}
	return running
}

func TestDrainWaitsForBudgetsAndLeavesDaemonSets(t *testing.T) {
	p := open(t, "/")
	p.createNode("first")
	p.form("pod")
	p.paste("#text", full)
	p.submit()
	p.says("#summary", "4 running")
	p.nodePanel("first")
	p.click("#drain-node")
	p.says("#question", "Drain first? This cordons the node and evicts its pods, except those of DaemonSets. 1 pod without a controller will not be recreated.")
	p.says("#confirm-yes", "Drain ")
	p.click("#confirm-yes")
	p.says("#panel .facts", "cordoned")
	p.says("#drain .job", "Draining first: 1 of 3", "Cannot evict pod as it would violate the pod's disruption budget.")
	p.fitsEverywhere("#drain p, #drain button, .operations button")
	testkit.Equal(t, []int{p.on("first", "web"), p.on("first", "agent"), p.on("first", "alone")}, []int{2, 1, 0}, "how many run on the node")

	p.click("#panel [data-close]")
	p.says("#jobs .job", "Draining first: 1 of 3") // it goes on
	p.nodePanel("first")
	p.click("#drain .job button")
	p.says("#drain .failed", "stopped after 1 of 3 pods; the node stays cordoned")
	p.click("#panel [data-close]")
	p.says("#jobs .failed", "Draining first: not done") // so it said at the edge, too
	p.click("#jobs .failed button")

	testkit.Must(t, sim.Client().PolicyV1().PodDisruptionBudgets("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	p.createNode("second")
	p.nodePanel("first")
	p.click("#drain-node")
	p.says("#question", "except those of DaemonSets.")
	p.says("#confirm-yes", "Drain ")
	p.click("#confirm-yes")
	p.says("#drain", "Drained first: 2 pods evicted")
	p.waitFor("nothing but the agent is there", "[...document.querySelectorAll('#panel tbody th')].length === 1 && document.querySelector('#panel tbody th').innerText.includes('agent')")
	p.says("#summary", "4 running") // an agent on each node
	testkit.Equal(t, []int{p.on("second", "web"), p.on("first", "agent"), p.on("second", "agent")}, []int{2, 1, 1}, "how many run")
	p.click("#cordon")
	p.says("#panel .facts", "ready")
	p.waitFor("of the drain nothing is said any more", "!document.querySelector('#drain').innerText")
}
