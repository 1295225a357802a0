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

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
)

// kind is a kind of pod that explain must tell from the others.
type kind struct {
	pod    *v1.Pod
	first  *v1.Pod           // is on its node before there is the pod
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
	"matches": {
		pod:    podWith("^free-1$"),
		advice: "Verdict:  it is on free-1, whose name matches\n",
	},
	"mismatches": {
		pod:    podWith("^free-1$"),
		change: func(p *v1.Pod) { p.Annotations[key] = "^free-2$" },
		advice: `Verdict:  it is on free-1, whose name does not match: the annotation was changed later, or the scheduler default-scheduler does not read it
To fix it:
  - recreate the pod, so that it is scheduled again
`,
	},
	"no-match": {
		pod: podWith("^gpu-[0-9]+$"),
		advice: `Verdict:  it is pending: no node's name matches
To fix it:
  - change the pattern (kubectl annotate pod no-match -n default --overwrite ` + key + `=PATTERN) or add a node that it matches; the nodes are anti-1, cordon-1, free-1, free-2, full-1 and 4 more
`,
	},
	"upper-case": {
		pod: podWith("^Free-1$"),
		advice: `Verdict:  it is pending: no node's name matches
To fix it:
  - node names are in lower case: with (?i) the pattern would match free-1
  - change the pattern (kubectl annotate pod upper-case -n default --overwrite ` + key + `=PATTERN) or add a node that it matches; the nodes are anti-1, cordon-1, free-1, free-2, full-1 and 4 more
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
	"bad-pattern-and-gate": {
		pod: podWith("free-(.*", gated),
		advice: `Verdict:  it is pending: no scheduler tries it until its scheduling gate example.com/quota is removed
Problem:  annotation ` + key + `: missing closing ): "free-(.*"
To fix it:
  - find out why what set the gate has not removed it
  - fix the pattern, too: the scheduler will refuse it: kubectl annotate pod bad-pattern-and-gate -n default --overwrite ` + key + `=PATTERN
`,
	},
	"nobodys": {
		pod: podWith("^free-", func(p *v1.Pod) { p.Spec.SchedulerName = "nobody" }),
		advice: `Verdict:  it is pending, and no scheduler has reported on it: is there one with the schedulerName nobody?
To fix it:
  - start a scheduler with a profile nobody, or recreate the pod with the schedulerName of one that runs; other pods were scheduled by default-scheduler
`,
	},
	"no-volume-claim": {
		pod: podWith("^free-", claimsVolume("data")),
		advice: `Verdict:  it is pending: PersistentVolumeClaim data does not exist
To fix it:
  - create PersistentVolumeClaim data in namespace default
`,
	},
	"no-resource-claim": {
		pod: podWith("^free-", func(p *v1.Pod) {
			p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("my-gpu")}}
		}),
		advice: `Verdict:  it is pending: ResourceClaim my-gpu does not exist
To fix it:
  - create ResourceClaim my-gpu in namespace default
`,
	},
	"no-claim-template": {
		pod: podWith("^free-", func(p *v1.Pod) {
			p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("any-gpu")}}
		}),
		advice: `Verdict:  it is pending: ResourceClaimTemplate any-gpu does not exist
To fix it:
  - create ResourceClaimTemplate any-gpu in namespace default
`,
	},
	"terminating": {
		pod: podWith("^none", func(p *v1.Pod) { p.Finalizers = []string{"example.com/keep"} }),
		advice: `Verdict:  it is being deleted, so no scheduler tries it any more; its finalizers keep it: example.com/keep
To fix it:
  - find out why what set the finalizers has not removed them
`,
	},
	"made-with-node": {
		pod: podWith("^free-1$", on("free-2")),
		advice: `Verdict:  it was created with spec.nodeName free-2, so no scheduler tried it; the name does not match
To fix it:
  - recreate the pod without spec.nodeName
`,
	},
	"taint": {
		pod: podWith("^taint-1$"),
		advice: `Verdict:  it is pending: nodes match, but all of them reject it for another reason
Matching nodes, and why they reject the pod:
  - taint-1: it has the taint gpu=a100:NoSchedule, which the pod does not tolerate
To fix it:
  - taint-1: give the pod a toleration of gpu=a100:NoSchedule, or kubectl taint node taint-1 gpu=a100:NoSchedule-
`,
	},
	"cordon": {
		pod: podWith("^cordon-1$"),
		advice: `Verdict:  it is pending: nodes match, but all of them reject it for another reason
Matching nodes, and why they reject the pod:
  - cordon-1: it is cordoned
To fix it:
  - cordon-1: kubectl uncordon cordon-1
`,
	},
	"selector": {
		pod: podWith("^free-1$", func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
		advice: `Verdict:  it is pending: nodes match, but all of them reject it for another reason
Matching nodes, and why they reject the pod:
  - free-1: its labels do not match the pod's nodeSelector or node affinity
To fix it:
  - free-1: label the node, or remove the pod's nodeSelector or node affinity
`,
	},
	"too-large": {
		pod: podWith("^free-1$", asks("100", "1Gi")),
		advice: `Verdict:  it is pending: nodes match, but all of them reject it for another reason
Matching nodes, and why they reject the pod:
  - free-1: the pod requests more than it has in all: 100 of 16 cpu
To fix it:
  - free-1: let the pod request less, or let the pattern match a larger node
`,
	},
	"full": {
		first: podWith("", on("full-1"), asks("15", "1Gi")),
		pod:   podWith("^full-1$", asks("4", "1Gi")),
		advice: `Verdict:  it is pending: nodes match, but all of them reject it for another reason
Matching nodes, and why they reject the pod:
  - full-1: the pod requests more than is free: 4 of 1 cpu
To fix it:
  - full-1: free resources there, let the pod request less, or let the pattern match a node with more room
`,
	},
	"host-port": {
		first: podWith("", on("port-1"), hostPort(8080)),
		pod:   podWith("^port-1$", hostPort(8080)),
		advice: `Verdict:  it is pending: nodes match, but all of them reject it for another reason
Matching nodes, and why they reject the pod:
  - port-1: pod default/host-port-first uses the hostPort 8080/TCP
To fix it:
  - port-1: let the pattern match a node where the port is free, or change the hostPort of one of the two pods
`,
	},
	"anti-affinity": {
		first: podWith("", on("anti-1"), labelled("web")),
		pod:   podWith("^anti-1$", keepsAwayFrom("web")),
		advice: `Verdict:  it is pending: nodes match, but all of them reject it for another reason
Matching nodes, and why they reject the pod:
  - anti-1: the pod's anti-affinity rejects it: pod default/anti-affinity-first has the same kubernetes.io/hostname
To fix it:
  - anti-1: let the pattern match a node with another kubernetes.io/hostname, or change that anti-affinity
`,
	},
	"anti-affinity-of-another": {
		first: podWith("", on("shy-1"), keepsAwayFrom("noisy")),
		pod:   podWith("^shy-1$", labelled("noisy")),
		advice: `Verdict:  it is pending: nodes match, but all of them reject it for another reason
Matching nodes, and why they reject the pod:
  - shy-1: the anti-affinity of pod default/anti-affinity-of-another-first rejects it: that pod has the same kubernetes.io/hostname
To fix it:
  - shy-1: let the pattern match a node with another kubernetes.io/hostname, or change that anti-affinity
`,
	},
	"spread": { // which only the scheduler can tell
		first: podWith("", on("free-1"), labelled("spread")),
		pod: podWith("^free-1$", labelled("spread"), func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: metav1.SetAsLabelSelector(p.Labels),
			}}
		}),
		advice: `Verdict:  it is pending, though explain finds no reason to reject it on free-1; the scheduler's message has the reason
To fix it:
  - fix what the scheduler's message names, or let the pattern match more nodes: kubectl annotate pod spread -n default --overwrite ` + key + `=PATTERN
`,
	},
	"hostlist": {
		pod: podWith("^rack-[001-128]$"),
		advice: `Verdict:  it is on rack-1, whose name matches
The pattern may not mean what you expect:
  - annotation ` + key + `: [001-128] matches one character, not a range of numbers; kubectl regex hostlist converts a hostlist to a pattern
`,
	},
}

func gated(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/quota"}} }

func on(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }

func labelled(app string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Labels = map[string]string{"app": app} }
}

func hostPort(port int32) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Containers = []v1.Container{{Ports: []v1.ContainerPort{{ContainerPort: 80, HostPort: port}}}}
	}
}

func keepsAwayFrom(app string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, TopologyKey: v1.LabelHostname,
			}},
		}}
	}
}

func claimsVolume(claim string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
	}
}

// Every kind of pod on a cluster with a scheduler, with the advice for it.
func TestEveryKindOfPodGetsItsAdvice(t *testing.T) {
	sim, err := simulator.Start(t.Context(), simulator.Config{Variant: "native"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := onCluster{t, sim.Client()}
	for name, change := range map[string]func(*v1.Node){
		"free-1": nil, "free-2": nil, "taint-1": tainted, "cordon-1": func(n *v1.Node) { n.Spec.Unschedulable = true },
		"full-1": nil, "port-1": nil, "anti-1": nil, "shy-1": nil, "rack-1": nil,
	} {
		c.addNode(name, change)
	}
	names := slices.Sorted(maps.Keys(kinds))
	for _, name := range names {
		c.add(name, kinds[name])
	}
	eventually.Succeeds(t, "every kind of pod gets its advice", func(context.Context) error {
		var wrong []error
		for _, name := range names {
			_, out, stderr := run(t, "", "explain", name, "--kubeconfig", sim.Kubeconfig())
			if want := kinds[name].advice; advice(out) != want {
				wrong = append(wrong, fmt.Errorf("\n%s%s\nwant\n%s", out, stderr, want))
			}
		}
		return errors.Join(wrong...)
	})
	t.Run("with few rights", func(t *testing.T) {
		onCluster{t, sim.Client()}.allow("dev", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}},
			rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}})
		want := `Verdict:  it is pending, though explain finds no reason to reject it on port-1; the scheduler's message has the reason
Not checked:
  - list pods: pods is forbidden: User "dev" cannot list resource "pods" in API group "" at the cluster scope
  - list namespaces: namespaces is forbidden: User "dev" cannot list resource "namespaces" in API group "" at the cluster scope
To fix it:
  - fix what the scheduler's message names, or let the pattern match more nodes: kubectl annotate pod host-port -n default --overwrite ` + key + `=PATTERN
`
		eventually.Succeeds(t, "explain with the rights to get a pod and nodes", func(context.Context) error {
			if _, out, stderr := run(t, "", "explain", "host-port", "--kubeconfig", sim.Kubeconfig(), "--as", "dev"); advice(out) != want {
				return fmt.Errorf("\n%s%s\nwant\n%s", out, stderr, want)
			}
			return nil
		})
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

func (c onCluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c onCluster) addNode(name string, change func(*v1.Node)) {
	c.Helper()
	n := objects.PlainNode(name, "a", "16")
	if change != nil {
		change(&n)
	}
	_, err := c.client.CoreV1().Nodes().Create(c.Context(), &n, metav1.CreateOptions{})
	c.must(err)
	eventually.Succeeds(c, "node "+name+" has no taint of a node that is not ready", func(ctx context.Context) error {
		n, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err == nil && slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeNotReady }) {
			return fmt.Errorf("it has %v", n.Spec.Taints)
		}
		return err
	})
}

// add makes the pod of a kind, and what comes before and after it.
func (c onCluster) add(name string, k kind) {
	c.Helper()
	if k.first != nil {
		c.create(name+"-first", k.first)
	}
	c.create(name, k.pod)
	pods := c.client.CoreV1().Pods(metav1.NamespaceDefault)
	if k.change != nil {
		eventually.Succeeds(c, "pod "+name+" has a node and is changed", func(ctx context.Context) error {
			p, err := pods.Get(ctx, name, metav1.GetOptions{})
			if err != nil || p.Spec.NodeName == "" {
				return fmt.Errorf("it is on %q: %w", p.Spec.NodeName, err)
			}
			k.change(p)
			_, err = pods.Update(ctx, p, metav1.UpdateOptions{})
			return err
		})
	}
	if len(k.pod.Finalizers) > 0 {
		c.must(pods.Delete(c.Context(), name, metav1.DeleteOptions{}))
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
	_, err := c.client.CoreV1().Pods(p.Namespace).Create(c.Context(), p, metav1.CreateOptions{})
	c.must(err)
}

// allow gives a user rights in the whole cluster.
func (c onCluster) allow(user string, rules ...rbacv1.PolicyRule) {
	c.Helper()
	name := metav1.ObjectMeta{Name: user}
	_, err := c.client.RbacV1().ClusterRoles().Create(c.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}, metav1.CreateOptions{})
	c.must(err)
	_, err = c.client.RbacV1().ClusterRoleBindings().Create(c.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: user},
	}, metav1.CreateOptions{})
	c.must(err)
}
