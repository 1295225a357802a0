// Package walkthrough does, on a running cluster, the steps by which the plugin
// is usually shown, and checks what comes of each: pods whose regex matches
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
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// patience bounds the wait for each step. Seconds are usual.
const patience = 2 * time.Minute

// Run walks through, printing to out as it goes. door is the way into the
// scheduler that the cluster uses: v1 words some verdicts differently. The
// error is what came out other than it should.
func Run(ctx context.Context, config *rest.Config, door string, out io.Writer) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	w := &walk{client: client, out: out, pods: pods(door)}
	for _, step := range []func(context.Context) error{w.createNodes, w.createPods, w.mend} {
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
	client kubernetes.Interface
	out    io.Writer
	pods   []*pod
}

func (w *walk) say(format string, args ...any) { fmt.Fprintf(w.out, format+"\n", args...) }

// createNodes makes the nodes of the walkthrough: one with a default name, and
// a group of two.
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

// createPods makes the pods and checks the first verdict on each.
func (w *walk) createPods(ctx context.Context) error {
	w.say("\nSix pods, each with its regex, or with what it excludes.")
	for _, p := range w.pods {
		if err := w.createPod(ctx, p); err != nil {
			return err
		}
	}
	return w.check(ctx, func(p *pod) expectation { return p.first })
}

// mend gives the invalid pod a valid regex, and the pod that matches no node a
// node, and checks that both are scheduled.
func (w *walk) mend(ctx context.Context) error {
	w.say("\nThe invalid regex is mended, and a node cncf-1 added.")
	invalid := slices.IndexFunc(w.pods, func(p *pod) bool { return p.name == "invalid" })
	if err := w.annotate(ctx, w.pods[invalid], "kubecon-.*"); err != nil {
		return err
	}
	if _, err := w.createNode(ctx, cncf1); err != nil {
		return err
	}
	return w.check(ctx, func(p *pod) expectation { return p.finally })
}

// check waits until each pod is as expected, and prints what became of all of them.
func (w *walk) check(ctx context.Context, expected func(*pod) expectation) error {
	var wrong error
	table := tabwriter.NewWriter(w.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\n  POD\tREGEX\tEXCLUDES\tVERDICT\tNODE\tREASON")
	for _, p := range w.pods {
		wrong = cmp.Or(wrong, w.await(ctx, p, expected(p)))
		verdict, node, reason := outcome(p.seen)
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%s\n", p.name, ptr.Deref(p.regex, "-"), ptr.Deref(p.exclude, "-"), verdict, node, reason)
	}
	return errors.Join(wrong, table.Flush())
}

// outcome is where a pod is, or why it is nowhere, in the words of the table.
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
