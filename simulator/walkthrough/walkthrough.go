// Package walkthrough does, on a running cluster, the steps by which the plugin
// is usually shown, and checks the result of each: pods whose regex matches
// some nodes, none, or is invalid, and how the last two get scheduled after all.
//
// It is a client of the API server like any other, and does not know what is
// behind it. The package is no API.
package walkthrough

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

const (
	// patience bounds the wait for each step. Seconds are usual.
	patience = 2 * time.Minute
	// glance is how long to wait between two looks at the cluster.
	glance = 100 * time.Millisecond
)

// Run walks through, printing to out as it goes. variant is the plugin variant
// of the cluster: v1 words some messages differently. The error says which result is
// not as it should be.
func Run(ctx context.Context, config *rest.Config, variant string, out io.Writer) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	w := &walk{client.CoreV1().Nodes(), client.CoreV1().Pods(metav1.NamespaceDefault), out, pods(variant)}
	for _, step := range []func(context.Context) error{w.createNodes, w.createPods, w.fix} {
		ctx, cancel := context.WithTimeout(ctx, patience)
		err := step(ctx)
		cancel()
		if err != nil {
			return err
		}
	}
	w.say("\nEverything is where it should be.")
	return nil
}

type walk struct {
	nodes  corev1.NodeInterface
	client corev1.PodInterface
	out    io.Writer
	pods   []*pod
}

func (w *walk) say(format string, args ...any) { fmt.Fprintf(w.out, format+"\n", args...) }

func (w *walk) createNodes(ctx context.Context) error {
	w.say("\nThree nodes: one with a default name, and a group of two.")
	for _, meta := range nodes {
		name, err := w.createNode(ctx, meta)
		if err != nil {
			return err
		}
		w.say("  node %s is Ready", name)
	}
	return nil
}

// createNode makes a node and waits until it is Ready.
func (w *walk) createNode(ctx context.Context, meta metav1.ObjectMeta) (name string, err error) {
	node, err := w.nodes.Create(ctx, &v1.Node{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create node %s%s: %w", meta.Name, meta.GenerateName, err)
	}
	err = wait.PollUntilContextCancel(ctx, glance, true, func(ctx context.Context) (bool, error) {
		node, err = w.nodes.Get(ctx, node.Name, metav1.GetOptions{})
		return err == nil && nodeutil.IsNodeReady(node), err
	})
	if err != nil {
		return "", fmt.Errorf("node %s does not become Ready: %w", node.Name, err)
	}
	return node.Name, nil
}

// createPods makes the pods and checks the first verdict on each.
func (w *walk) createPods(ctx context.Context) error {
	w.say("\nSix pods, each with its regex, or with what it excludes.")
	for _, p := range w.pods {
		object := &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: p.name, Annotations: map[string]string{}},
			Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "web", Image: "web"}}},
		}
		for key, pattern := range map[string]*string{regex.Annotation: p.regex, regex.ExcludeAnnotation: p.exclude} {
			if pattern != nil {
				object.Annotations[key] = *pattern
			}
		}
		if _, err := w.client.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create pod %s: %w", p.name, err)
		}
	}
	return w.check(ctx)
}

// fix gives the invalid pod a valid regex, and the pod that matches no node a
// node, and checks that both are scheduled.
func (w *walk) fix(ctx context.Context) error {
	w.say("\nThe invalid regex is fixed, and a node cncf-1 added.")
	invalid, cncf := w.named("invalid"), w.named("cncf")
	invalid.regex, invalid.want, cncf.want = ptr.To("kubecon-.*"), on("kubecon-[12]"), on(cncf1.Name)
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, regex.Annotation, *invalid.regex)
	if _, err := w.client.Patch(ctx, invalid.name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("annotate pod %s: %w", invalid.name, err)
	}
	if _, err := w.createNode(ctx, cncf1); err != nil {
		return err
	}
	return w.check(ctx)
}

func (w *walk) named(name string) *pod {
	return w.pods[slices.IndexFunc(w.pods, func(p *pod) bool { return p.name == name })]
}

// check waits until each pod is as it should be, and prints all of them.
func (w *walk) check(ctx context.Context) error {
	var wrong error
	table := tabwriter.NewWriter(w.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\n  POD\tREGEX\tEXCLUDES\tVERDICT\tNODE\tREASON")
	for _, p := range w.pods {
		wrong = cmp.Or(wrong, w.await(ctx, p))
		verdict, node, reason := outcome(p.seen)
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%s\n", p.name, ptr.Deref(p.regex, "-"), ptr.Deref(p.exclude, "-"), verdict, node, reason)
	}
	return errors.Join(wrong, table.Flush())
}

// await waits until a pod is as it should be.
func (w *walk) await(ctx context.Context, p *pod) error {
	is := "was not found"
	err := wait.PollUntilContextCancel(ctx, glance, true, func(ctx context.Context) (bool, error) {
		found, err := w.client.Get(ctx, p.name, metav1.GetOptions{})
		if err == nil {
			p.seen, is = found, state(found)
		}
		return p.want.MatchString(is), err
	})
	if err != nil {
		return fmt.Errorf("pod %s: %q, want %q (%w)", p.name, is, p.want, err)
	}
	return nil
}

// outcome is where a pod is, or why it is pending, in the words of the table.
func outcome(p *v1.Pod) (verdict, node, reason string) {
	if p == nil {
		return "Unknown", "-", "-"
	}
	if p.Spec.NodeName != "" {
		return "Scheduled", p.Spec.NodeName, "-"
	}
	condition := scheduled(p)
	return cmp.Or(condition.Reason, "Pending"), "-", cmp.Or(condition.Message, "-")
}
