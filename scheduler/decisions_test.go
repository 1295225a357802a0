package scheduler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/capture"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
	"wasmkwokwizardry.io/regex-scheduling/kubectl"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func (c *liveCluster) addNode(t *testing.T, name string, change func(*v1.Node)) {
	t.Helper()
	node := objects.PlainNode(name, "zone", "1")
	if change != nil {
		change(&node)
	}
	objects.Create(t, c.CoreV1().Nodes(), &node)
}

func (c *liveCluster) addPod(t *testing.T, namespace, name, cpu string, change func(*v1.Pod)) {
	t.Helper()
	pod := objects.PlainPod(name, cpu)
	pod.Namespace = namespace
	if change != nil {
		change(&pod)
	}
	objects.Create(t, c.CoreV1().Pods(namespace), &pod)
}

// asReplica makes a pod one of kubeadm's, or of deploy/static-pods.
func asReplica(p *v1.Pod) {
	p.Spec.NodeName = "a1"
	p.Labels = map[string]string{"component": "kube-scheduler"}
}

func matching(pattern string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Annotations = map[string]string{regex.Annotation: pattern} }
}

func selecting(label, value string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{label: value} }
}

var placed = map[string]func(*v1.Pod){
	"on-any":   nil,
	"on-regex": matching("^a2$"),
	"on-tainted": func(p *v1.Pod) {
		selecting("kind", "tainted")(p)
		p.Spec.Tolerations = []v1.Toleration{{Key: "dedicated", Operator: v1.TolerationOpExists}}
	},
}

// pending are ten kinds of pods that no node can run.
var pending = map[string]struct {
	cpu    string
	change func(*v1.Pod)
}{
	"no-match":       {"100m", matching("^nothing$")},
	"invalid":        {"100m", matching("[")},
	"match-no-cpu":   {"3", matching("^a")},
	"no-cpu":         {"5", nil},
	"no-memory":      {"100m", func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests = objects.Resources("100m", "100Ti") }},
	"no-label":       {"100m", selecting("disk", "floppy")},
	"tainted":        {"100m", selecting("kind", "tainted")},
	"cordoned":       {"100m", selecting("kind", "cordoned")},
	"other-affinity": {"100m", func(p *v1.Pod) { p.Spec.Affinity = nearAbsent() }},
	"no-claim": {"100m", func(p *v1.Pod) {
		p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "absent"}}}}
	}},
}

func nearAbsent() *v1.Affinity {
	return &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
		TopologyKey: v1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "absent"}},
	}}}}
}

// kubectlWhy is what the command prints. It fails the test if the scheduler could not be asked, unless that is expected.
func kubectlWhy(t *testing.T, args ...string) (out, errOut string) {
	t.Helper()
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	status := kubectl.Run(t.Context(), append([]string{"why"}, args...), streams)
	if status != 0 {
		t.Fatalf("%q: exit status %d: %s%s", args, status, stdout, stderr)
	}
	return stdout.String(), stderr.String()
}

// simulatorWhy is what `simulator why` says on a copy of the cluster.
func (c *liveCluster) simulatorWhy(t *testing.T, namespace, name string) string {
	t.Helper()
	copied, err := capture.Read(t.Context(), capture.Options{Kubeconfig: c.Kubeconfig()})
	testkit.Must(t, err)
	config, err := kubescheduler.Read([]byte(liveConfig))
	testkit.Must(t, err)
	is, err := why.Why(t.Context(), why.Options{Options: engine.Options{Cluster: copied, Config: config, Seed: 1}, Pod: types.NamespacedName{Namespace: namespace, Name: name}})
	testkit.Must(t, err)
	var out bytes.Buffer
	testkit.Must(t, report.Write(&out, "table", nil, is.Report()))
	return out.String()
}

// causes are the verdict and the table of rejected nodes.
func causes(text string) (lines []string) {
	verdict, rest, _ := strings.Cut(text, "\n")
	lines = []string{verdict}
	_, table, ok := strings.Cut(rest, "\nNODES ")
	for _, line := range strings.Split(table, "\n")[1:] {
		if !ok || line == "" {
			break
		}
		lines = append(lines, line)
	}
	return lines
}

func TestKubectlSaysOfTheRunningSchedulerWhatTheSimulatorSaysOnACopy(t *testing.T) {
	c := startCluster(t)
	c.fill(t)
	first := c.runReplica(t, "--decisions=64Mi")
	c.awaitAttempts(t)
	second := c.runReplica(t, "--decisions=64Mi")
	at := map[string]string{}
	host, err := os.Hostname()
	testkit.Must(t, err)
	at["kube-scheduler-"+host], at["standby"] = first.address, second.address
	for name := range at {
		c.addPod(t, "kube-system", name, "0", asReplica)
	}
	kubeconfig := c.kubeconfig(t, "admin", func(pod string) string { return at[pod] }, "system:masters")

	for name := range placed {
		c.agrees(t, kubeconfig, name)
	}
	for name := range pending {
		c.agrees(t, kubeconfig, name)
	}
	t.Run("says what would have to change", func(t *testing.T) {
		out, _ := kubectlWhy(t, "match-no-cpu", "--kubeconfig", kubeconfig)
		testkit.Has(t, out, "2 nodes match the regex; of these 2: Insufficient cpu", "nodes lack cpu: 3 asked, most free is ", "Attempt ", " ago.")
	})
	t.Run("is JSON", func(t *testing.T) {
		out, _ := kubectlWhy(t, "no-cpu", "--kubeconfig", kubeconfig, "-o", "json")
		var a decisions.Answer
		testkit.Must(t, json.Unmarshal([]byte(out), &a))
		last := a.Attempts[0]
		if a.Pod != "default/no-cpu" || last.Result != "Unschedulable" || last.Total != 4 || last.Number < 1 || len(last.Nodes) == 0 || len(last.Nodes[0].Names) != last.Nodes[0].Count {
			t.Errorf("got %s", out)
		}
	})
	t.Run("asks the leader", func(t *testing.T) {
		c.wantAnswer(t, c.AdminConfig(), second, decisions.Path+"default/no-cpu", "421 This replica does not schedule: "+host+"_")
		_, errOut := kubectlWhy(t, "no-cpu", "--kubeconfig", kubeconfig, "--scheduler", "kube-system/standby")
		testkit.Has(t, errOut, "This replica does not schedule: "+host+"_")
	})
	t.Run("asks the next leader", func(t *testing.T) {
		first.end()
		at["kube-scheduler-"+host] = second.address
		for name := range pending {
			testkit.EventuallyHas(t, "the replica has tried "+name, c.answers(t, second, decisions.Path+"default/"+name), "status 200: ", "is pending")
			c.agrees(t, kubeconfig, name)
		}
		out, errOut := kubectlWhy(t, "on-regex", "--kubeconfig", kubeconfig) // which only the first has tried
		testkit.Has(t, errOut, "The scheduler has not tried pod default/on-regex since ")
		testkit.Has(t, out, "it is on a2; the name matches")
	})
}

// fill makes nodes, and pods in each of the ways.
func (c *liveCluster) fill(t *testing.T) {
	t.Helper()
	c.addNode(t, "a1", nil)
	c.addNode(t, "a2", nil)
	c.addNode(t, "b1", func(n *v1.Node) {
		n.Labels["kind"] = "tainted"
		n.Spec.Taints = []v1.Taint{{Key: "dedicated", Effect: v1.TaintEffectNoSchedule}}
	})
	c.addNode(t, "c1", func(n *v1.Node) {
		n.Labels["kind"] = "cordoned"
		n.Spec.Unschedulable = true
	})
	for name, change := range placed {
		c.addPod(t, "default", name, "100m", change)
	}
	for name, kind := range pending {
		c.addPod(t, "default", name, kind.cpu, kind.change)
	}
}

// awaitAttempts waits until the scheduler has reported on each pod.
func (c *liveCluster) awaitAttempts(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, "each pod is tried", func(ctx context.Context) error {
		all, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range all.Items {
			if len(pod.Status.Conditions) == 0 || (pod.Spec.NodeName == "") != (placed[pod.Name] == nil && pod.Name != "on-any") {
				return fmt.Errorf("pod %s is on node %q: %v", pod.Name, pod.Spec.NodeName, pod.Status.Conditions)
			}
		}
		return nil
	})
}

// agrees compares all that kubectl and the simulator say of the verdict and the nodes.
func (c *liveCluster) agrees(t *testing.T, kubeconfig, name string) {
	t.Helper()
	out, errOut := kubectlWhy(t, name, "--kubeconfig", kubeconfig)
	want := causes(c.simulatorWhy(t, "default", name))
	testkit.Equal(t, causes(out), want, "what the running scheduler, and the simulator, say of %s: %s%s", name, errOut, out)
}

func TestDecisionsNeedTheRightToGetThePod(t *testing.T) {
	testkit.OnOneMinor(t)
	c := startCluster(t)
	c.fill(t)
	r := c.runReplica(t, "--decisions=64Mi")
	c.awaitAttempts(t)
	path := rbacv1.PolicyRule{NonResourceURLs: []string{decisions.Path + "*"}, Verbs: []string{"get"}}
	read := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}
	objects.Grant(t, c, "both", path, read)
	objects.Grant(t, c, "path", path)
	objects.Grant(t, c, "read", read)
	for user, want := range map[string]int{"both": http.StatusOK, "path": http.StatusForbidden, "read": http.StatusForbidden} {
		config, err := c.ClientConfig(user)
		testkit.Must(t, err)
		testkit.Eventually(t, "the answer to "+user, func(ctx context.Context) error {
			status, text, err := c.get(ctx, config, r, decisions.Path+"default/no-cpu", "")
			if err == nil && (status != want || strings.Contains(text, "Insufficient") != (want == http.StatusOK)) {
				err = fmt.Errorf("%d %s", status, text)
			}
			return err
		})
	}
	for _, other := range []string{"default", "default/", "/no-cpu", "default/no-cpu/log"} {
		c.wantAnswer(t, c.AdminConfig(), r, decisions.Path+other, "404 ")
	}
	c.wantAnswer(t, c.AdminConfig(), r, decisions.Path+"default/absent", "404 The scheduler has not tried pod default/absent ")
	testkit.Has(t, c.wantAnswer(t, c.AdminConfig(), r, "/metrics", "200 "), `scheduler_decisions_attempts_total{cause="regex",result="unschedulable"}`)
	testkit.EventuallyHas(t, "it is ready", c.answers(t, r, "/readyz"), "status 200: ")
}

func TestPreemptedPodsOfOthersAreNotNamed(t *testing.T) {
	testkit.OnOneMinor(t)
	c := startCluster(t)
	c.addNode(t, "a1", nil)
	objects.Create(t, c.CoreV1().Namespaces(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "private"}})
	c.addPod(t, "private", "secret-project", "900m", nil)
	r := c.runReplica(t, "--decisions=64Mi")
	objects.WaitForPod(t, c, "private", "secret-project", " is placed", func(p *v1.Pod) bool { return p.Spec.NodeName != "" })
	c.addPod(t, "default", "important", "900m", func(p *v1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" })
	testkit.Eventually(t, "preemption is in the answer", func(ctx context.Context) error {
		_, text, err := c.get(ctx, c.AdminConfig(), r, decisions.Path+"default/important", "")
		if err == nil && !strings.Contains(text, `"preemptedPods":1`) {
			err = fmt.Errorf("%s", text)
		}
		if strings.Contains(text, "secret-project") || strings.Contains(text, "private") {
			t.Errorf("it names another pod: %s", text)
		}
		return err
	})
	text := c.wantAnswer(t, c.AdminConfig(), r, decisions.Path+"default/important", "200 ")
	testkit.Equal(t, strings.Contains(text, "secret-project"), false, "it names another pod, as text: %s", text)
}

func TestKubectlExplainsThePodIfTheSchedulerCannotBeAsked(t *testing.T) {
	testkit.OnOneMinor(t)
	c := startCluster(t)
	c.fill(t)
	r := c.runReplica(t)
	c.awaitAttempts(t)
	host, err := os.Hostname()
	testkit.Must(t, err)
	c.addPod(t, "kube-system", "kube-scheduler-"+host, "0", asReplica)
	kubeconfig := c.kubeconfig(t, "admin", func(string) string { return r.address }, "system:masters")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "it runs without --decisions"},
		{[]string{"--scheduler", "kube-system/absent"}, `--scheduler kube-system/absent: in namespace kube-system, pods "absent" not found`},
		{[]string{"--as", "somebody", "--as-group", "system:masters"}, "and not somebody"},
	} {
		out, errOut := kubectlWhy(t, append([]string{"no-match", "--kubeconfig", kubeconfig}, tt.args...)...)
		if strings.Contains(errOut, "is not checked") != (tt.args == nil) { // nothing is connected to
			t.Errorf("%q: %s", tt.args, errOut)
		}
		testkit.Has(t, errOut, tt.want)
		testkit.Has(t, out, "Verdict:  it is pending: no node's name matches")
	}
}
