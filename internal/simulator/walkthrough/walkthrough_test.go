// Package walkthrough does, on a running cluster, the steps by which the plugin is usually
// shown, and checks the result of each: pods whose regex matches some nodes, none, or is
// invalid, and how the last two get scheduled after all. make walkthrough prints them.
package walkthrough

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// pod is a pod of the walkthrough, and where it should be scheduled, or why not.
type pod struct {
	name           string
	regex, exclude *string // nil: no annotation
	want           string  // a regex of its state
}

const (
	none = `0/3 nodes are available: 3 node\(s\) didn't match the pod's node name regex "cncf-\.\*"\.`
	// The node cncf-1 may be there by then.
	excluded = `0/[34] nodes are available: [12] node\(s\) didn't match the pod's node name regex "\^kubecon-", ` +
		`2 node\(s\) matched the pod's node name regex-exclude "-\[12\]\$"\.`
	trailing = `annotation ` + regex.Annotation + `: trailing backslash at end of expression: "kubecon-\.\*\\"`
)

// invalid is the state of a pod with an invalid regex. To guest v1 that is an error, on which
// the scheduler tries again and again; with other variants the pod stays unschedulable until
// its annotation changes.
func invalid(variant string) string {
	switch variant {
	case "v1":
		return `^SchedulerError: .*filter plugin: ` + trailing
	case "extender", "extender-names":
		return `^Unschedulable: 0/3 nodes are available: 3 node\(s\) can't be matched: ` + trailing
	}
	return `^Unschedulable: 0/3 nodes are available: ` + trailing
}

func TestWalkthrough(t *testing.T) {
	s, err := simulator.Start(t.Context(), simulator.Config{Variant: "none", Progress: func(step string) { t.Log(step) }})
	testkit.Must(t, err)
	defer func() { testkit.Must(t, s.Stop()) }()
	for _, variant := range simulator.Variants {
		if variant == "none" {
			continue // it knows no regex
		}
		t.Run(variant, func(t *testing.T) {
			w := walk{t, s.Client()}
			testkit.Must(w, s.Reset(t.Context()))
			config, err := simulator.SchedulerConfig(variant)
			testkit.Must(w, err)
			testkit.Must(w, s.ApplySchedulerConfig(t.Context(), config))
			w.run(variant)
		})
	}
}

type walk struct {
	*testing.T
	client kubernetes.Interface
}

func (w walk) run(variant string) {
	w.Log("Three nodes: one with a default name, and a group of two.")
	example := simulator.Example()
	for i := range example.Nodes {
		w.addNode(&example.Nodes[i])
	}

	w.Log("The example's three pods, each with its regex, and four more.")
	pods := []pod{{want: "^Running on kubecon-[12]$"}, {want: "^Unschedulable: " + none}, {want: invalid(variant)}}
	for i := range pods {
		pods[i].name = example.Pods[i].Name
		pods[i].regex = ptr.To(example.Pods[i].Annotations[regex.Annotation])
	}
	pods = append(pods, []pod{
		{name: "excluding", exclude: ptr.To("^kubecon-"), want: "^Running on node-.+$"},
		{name: "neither", regex: ptr.To("^kubecon-"), exclude: ptr.To("-[12]$"), want: "^Unschedulable: " + excluded},
		{name: "hostlist", regex: ptr.To("kubecon-[001-128]"), want: "^Running on kubecon-[12]$"},
		{name: "anywhere", want: "^Running on (node-.+|kubecon-[12])$"},
	}...)
	for _, p := range pods {
		w.addPod(p)
	}
	w.check(pods)
	w.warns("Warning hostlist: annotation " + regex.Annotation + ": [001-128] matches one character")

	w.Log("The invalid regex is fixed, and a node cncf-1 added.")
	pods[2].regex = pods[0].regex
	pods[2].want = pods[0].want
	pods[1].want = "^Running on cncf-1$"
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, regex.Annotation, *pods[2].regex)
	_, err := w.client.CoreV1().Pods(metav1.NamespaceDefault).Patch(w.Context(), pods[2].name, types.MergePatchType, patch, metav1.PatchOptions{})
	testkit.Must(w, err)
	w.addNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cncf-1"}})
	w.check(pods)
}

// addNode creates a node and waits until it is Ready.
func (w walk) addNode(node *v1.Node) {
	w.Helper()
	nodes := w.client.CoreV1().Nodes()
	node, err := nodes.Create(w.Context(), node, metav1.CreateOptions{})
	testkit.Must(w, err)
	testkit.EventuallyIs(w.T, node.Name, nodes.Get, nodeutil.IsNodeReady)
}

func (w walk) addPod(p pod) {
	w.Helper()
	object := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Annotations: map[string]string{}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "web", Image: "web"}}},
	}
	for key, pattern := range map[string]*string{regex.Annotation: p.regex, regex.ExcludeAnnotation: p.exclude} {
		if pattern != nil {
			object.Annotations[key] = *pattern
		}
	}
	_, err := w.client.CoreV1().Pods(metav1.NamespaceDefault).Create(w.Context(), object, metav1.CreateOptions{})
	testkit.Must(w, err)
}

// check waits until each pod is as it should be, and prints all of them.
func (w walk) check(pods []pod) {
	w.Helper()
	states := map[string]string{}
	testkit.Eventually(w.T, "every pod is as it should be", func(ctx context.Context) error {
		var wrong []error
		for _, p := range pods {
			found, err := w.client.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, p.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			states[p.name] = state(found)
			if !regexp.MustCompile(p.want).MatchString(states[p.name]) {
				wrong = append(wrong, fmt.Errorf("pod %s: %q, want %q", p.name, states[p.name], p.want))
			}
		}
		return errors.Join(wrong...)
	})
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "POD\tREGEX\tEXCLUDES\tSTATE")
	for _, p := range pods {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.name, ptr.Deref(p.regex, "-"), ptr.Deref(p.exclude, "-"), states[p.name])
	}
	testkit.Must(w, table.Flush())
	w.Logf("\n%s", &text)
}

// warns waits for the one event that warns of a regex of other nodes than were meant.
func (w walk) warns(want string) {
	w.Helper()
	testkit.Eventually(w.T, "one event warns of the hostlist", func(ctx context.Context) error {
		events, err := w.client.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "reason=SuspiciousRegex"})
		if err != nil {
			return err
		}
		var got []string
		for _, e := range events.Items {
			got = append(got, fmt.Sprintf("%s %s: %s", e.Type, e.InvolvedObject.Name, e.Message))
		}
		if len(got) != 1 || !strings.HasPrefix(got[0], want) {
			return fmt.Errorf("got %q, want %q alone", got, want)
		}
		return nil
	})
}

// state is where a pod is, or why it is pending.
func state(p *v1.Pod) string {
	if p.Spec.NodeName != "" {
		return string(p.Status.Phase) + " on " + p.Spec.NodeName
	}
	_, condition := podutil.GetPodCondition(&p.Status, v1.PodScheduled)
	return fmt.Sprintf("%s: %s", ptr.Deref(condition, v1.PodCondition{}).Reason, ptr.Deref(condition, v1.PodCondition{}).Message)
}
