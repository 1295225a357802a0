package kubectl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// kind is a kind of pod that explain must tell from the others.
type kind struct {
	pod    *v1.Pod
	change func(pod *v1.Pod) // changes the pod once it has a node
	// advice is what explain prints from the verdict on, without what the scheduler says.
	advice string
}

// kinds are by the names of the pods.
var kinds = map[string]kind{
	"no-annotation": {
		pod:    podWith("", func(p *v1.Pod) { p.Annotations = nil }),
		advice: "Verdict:  it has no annotation " + key + ", so any node's name qualifies\n",
	},

	"mismatches": {
		pod:    podWith("^free-1$"),
		change: func(p *v1.Pod) { p.Annotations[key] = "^free-2$" },
		advice: `Verdict:  it is on free-1; the name does not match
To fix it:
  - if the scheduler default-scheduler does not read the annotation, set spec.schedulerName to that of one that does, such as custom-scheduler of regex-scheduling's manifests
  - if the annotation was changed after the pod was scheduled, recreate the pod
`,
	},
	"no-match": {
		pod: podWith("^gpu-[0-9]+$"),
		advice: `Verdict:  it is pending: no node's name matches
To fix it:
  - change the pattern (kubectl annotate pod no-match -n default --overwrite ` + key + `=PATTERN) or add a node that it matches; the nodes are free-1, free-2, taint-1
`,
	},
	"upper-case": {
		pod: podWith("^Free-1$"),
		advice: `Verdict:  it is pending: no node's name matches
To fix it:
  - node names are in lower case: with (?i) the pattern would match free-1
  - change the pattern (kubectl annotate pod upper-case -n default --overwrite ` + key + `=PATTERN) or add a node that it matches; the nodes are free-1, free-2, taint-1
`,
	},
	"excluded": {
		pod: podWith("^free-", excluding("-[12]$")),
		advice: `Verdict:  it is pending: the pattern matches free-1, free-2, and all of them are excluded
To fix it:
  - exclude fewer nodes: kubectl annotate pod excluded -n default --overwrite ` + regex.ExcludeAnnotation + `=PATTERN
  - or let the pattern match other nodes: kubectl annotate pod excluded -n default --overwrite ` + key + `=PATTERN
`,
	},
	"bad-pattern": {
		pod: podWith("free-(.*"),
		advice: `Verdict:  it is pending: the scheduler refuses the pattern
Problem:  annotation ` + key + `: missing closing ): "free-(.*"
To fix it:
  - fix the pattern: kubectl annotate pod bad-pattern -n default --overwrite ` + key + `=PATTERN; the scheduler then tries the pod again
`,
	},
	"gate": {
		pod: podWith("^free-", gated),
		advice: `Verdict:  it is pending: no scheduler tries it until its scheduling gate example.com/quota is removed
To fix it:
  - find out why what set the gate has not removed it
`,
	},

	"nobodys": {
		pod: podWith("^free-", func(p *v1.Pod) { p.Spec.SchedulerName = "absent" }),
		advice: `Verdict:  it is pending, and no scheduler has reported on it: is there one with the schedulerName absent?
To fix it:
  - set spec.schedulerName to that of a scheduler that runs (by kubectl replace --force), or start one with a profile absent; other pods were scheduled by default-scheduler
`,
	},
	"no-resource-claim": {
		pod: podWith("^free-", func(p *v1.Pod) {
			p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("my-gpu")}}
		}),
		advice: `Verdict:  it is pending: its scheduler default-scheduler, which has scheduled other pods, has not reported on it yet
To fix it:
  - check that its ResourceClaims exist: no scheduler tries it before
  - check that this scheduler runs, and look for the pod in its log
`,
	},

	"taint": {
		pod: podWith("^taint-1$"),
		advice: `Verdict:  it is pending though the pattern matches taint-1; the scheduler's message has the reason
To fix it:
  - every plugin's verdict: simulator why taint -n default --kubeconfig FILE
`,
	},
}

func gated(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/quota"}} }

func on(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }

// Every kind of pod on a cluster with a scheduler, with the advice for it.
func TestEveryKindOfPodGetsItsAdvice(t *testing.T) {
	sim, err := simulator.Start(t.Context(), simulator.Config{Variant: "native"})
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, sim.Stop()) })
	c := onCluster{t, sim.Client()}
	for name, change := range map[string]func(*v1.Node){"free-1": nil, "free-2": nil, "taint-1": tainted} {
		c.addNode(name, change)
	}
	names := slices.Sorted(maps.Keys(kinds))
	for _, name := range names {
		c.add(name, kinds[name])
	}
	testkit.Eventually(t, "every kind of pod gets its advice", func(context.Context) error {
		var wrong []error
		for _, name := range names {
			_, out, stderr := run(t, "", "explain", name, "--kubeconfig", sim.Kubeconfig())
			want := kinds[name].advice
			if advice(out) != want {
				wrong = append(wrong, fmt.Errorf("\n%s%s\nwant\n%s", out, stderr, want))
			}
		}
		return errors.Join(wrong...)
	})
	t.Run("every command", func(t *testing.T) { everyCommand(t, sim) })
	t.Run("with few rights", func(t *testing.T) {
		objects.Grant(t, sim.Client(), "dev", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}})
		want := `Verdict:  it is pending, and no scheduler has reported on it: is there one with the schedulerName absent?
Not checked:
  - list nodes: nodes is forbidden: User "dev" cannot list resource "nodes" in API group "" at the cluster scope
  - events is forbidden: User "dev" cannot list resource "events" in API group "" in the namespace "default"
  - list pods: pods is forbidden: User "dev" cannot list resource "pods" in API group "" at the cluster scope
To fix it:
  - set spec.schedulerName to that of a scheduler that runs (by kubectl replace --force), or start one with a profile absent
`
		testkit.Eventually(t, "explain with the right to get a pod alone", func(context.Context) error {
			_, out, stderr := run(t, "", "explain", "nobodys", "--kubeconfig", sim.Kubeconfig(), "--as", "dev")
			if advice(out) != want {
				return fmt.Errorf("\n%s%s\nwant\n%s", out, stderr, want)
			}
			return nil
		})
		for pod, want := range map[string]string{
			"mismatches": "Verdict:  it is on free-1; the name does not match\n",
			"taint":      "Verdict:  it is pending; the scheduler's message has the reason\n",
		} {
			status, out, stderr := run(t, "", "explain", pod, "--kubeconfig", sim.Kubeconfig(), "--as", "dev")
			if status != 0 || !strings.HasPrefix(advice(out), want) || strings.Contains(out, "Matches:") || !strings.Contains(out, "list nodes: nodes is forbidden") {
				t.Errorf("status %d, want %s: %s%s", status, want, out, stderr)
			}
		}
	})
}

// advice is what explain prints from the verdict on, without what the scheduler says,
// which is not ours.
func advice(out string) string {
	_, after, _ := strings.Cut(out, "Verdict:")
	lines := strings.SplitAfter("Verdict:"+after, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Message:") }), "")
}

// onCluster fills a cluster with what the kinds of pods need.
type onCluster struct {
	*testing.T
	client kubernetes.Interface
}

func (c onCluster) addNode(name string, change func(*v1.Node)) {
	c.Helper()
	n := objects.PlainNode(name, "a", "16")
	if change != nil {
		change(&n)
	}
	objects.Create(c, c.client.CoreV1().Nodes(), &n)
	testkit.Eventually(c, "node "+name+" has no taint of a node that is not ready", func(ctx context.Context) error {
		n, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err == nil && slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeNotReady }) {
			return fmt.Errorf("it has %v", n.Spec.Taints)
		}
		return err
	})
}

// add makes the pod of a kind, and what comes after it.
func (c onCluster) add(name string, k kind) {
	c.Helper()
	c.create(name, k.pod)
	pods := c.client.CoreV1().Pods(metav1.NamespaceDefault)
	if k.change != nil {
		testkit.Eventually(c, "pod "+name+" has a node and is changed", func(ctx context.Context) error {
			p, err := pods.Get(ctx, name, metav1.GetOptions{})
			if err != nil || p.Spec.NodeName == "" {
				return fmt.Errorf("it is on %q: %w", p.Spec.NodeName, err)
			}
			k.change(p)
			_, err = pods.Update(ctx, p, metav1.UpdateOptions{})
			return err
		})
	}
}

func (c onCluster) create(name string, p *v1.Pod) {
	c.Helper()
	p = p.DeepCopy()
	p.Namespace, p.Name = metav1.NamespaceDefault, name
	if p.Spec.SchedulerName == "mine" {
		p.Spec.SchedulerName = ""
	}
	if p.Spec.Containers == nil {
		p.Spec.Containers = []v1.Container{{}}
	}
	p.Spec.Containers[0].Name, p.Spec.Containers[0].Image = "main", "example.com/none"
	objects.Create(c, c.client.CoreV1().Pods(p.Namespace), p)
}

// everyCommand tries the commands on the cluster of TestEveryKindOfPodGetsItsAdvice.
func everyCommand(t *testing.T, sim *simulator.Simulator) {
	t.Setenv("KUBECONFIG", sim.Kubeconfig())
	core := sim.Client().CoreV1()
	p, err := core.Pods("default").Get(t.Context(), "nobodys", metav1.GetOptions{})
	testkit.Must(t, err)
	event := &v1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"}, Reason: "FailedScheduling", Message: "reported in an event"}
	event.InvolvedObject = v1.ObjectReference{Kind: "Pod", Namespace: "default", Name: p.Name, UID: p.UID}
	objects.Create(t, core.Events("default"), event)
	for name, tt := range map[string]struct {
		args   []string
		want   []string
		status int
	}{
		"match":                       {[]string{"match", "free"}, []string{"free-1\nfree-2\n", "2 of 3 nodes match"}, 0},
		"match, JSON":                 {[]string{"match", "free", "-o", "json"}, []string{`"free-1"`, `"nodes": 3`}, 0},
		"match, labelled":             {[]string{"match", ".", "-l", "kubernetes.io/hostname=free-2"}, []string{"free-2\n", "1 of 1 node matches"}, 0},
		"nodes":                       {[]string{"nodes"}, []string{"PATTERN", "^taint-1$", "1      1", "missing closing )"}, exitMistakes},
		"nodes, in another namespace": {[]string{"nodes", "-n", "kube-system"}, []string{"No pod in kube-system has the annotation " + key}, 0},
		"nodes, all":                  {[]string{"nodes", "-A", "-o", "yaml"}, []string{"- nodes: 1\n  patterns:\n    " + key + ": ^taint-1$\n  pending: 1\n  pods: 1\n"}, exitMistakes},
		"explain":                     {[]string{"explain", "pod/taint"}, []string{"Matches:  1 of 3 nodes", "Message:  0/3 nodes are available"}, 0},
		"explain, YAML":               {[]string{"explain", "taint", "-o", "yaml"}, []string{": ^taint-1$\n", "scheduler: '0/3 nodes are available"}, 0},
		"explain, event":              {[]string{"explain", "nobodys"}, []string{"Message:  reported in an event"}, 0},
		"explain, invalid":            {[]string{"explain", "bad-pattern"}, []string{"missing closing )"}, exitMistakes},
		"explain, invalid, JSON":      {[]string{"explain", "bad-pattern", "-o", "json"}, []string{"missing closing )"}, exitMistakes},
		"explain, absent":             {[]string{"explain", "absent"}, []string{`error: pods "absent" not found`}, exitFailed},
		"lint, live":                  {[]string{"lint", "--live", "--strict", "-"}, []string{"matches none of 3 nodes"}, exitMistakes},
		"completion":                  {[]string{"__complete", "explain", ""}, []string{"gate\n", "taint\n", ":4\n"}, 0},
		"no such context":             {[]string{"match", "x", "--context", "nope"}, []string{`error: context "nope" does not exist`}, exitFailed},
		"no rights":                   {[]string{"match", "x", "--as", "eve"}, []string{`error: list nodes: nodes is forbidden: User "eve"`}, exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, stderr := run(t, pod(key+": '^gpu'"), tt.args...)
			testkit.Has(t, out+stderr, tt.want...)
			testkit.Equal(t, status, tt.status, "exit status")
		})
	}
}
