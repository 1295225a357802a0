package walkthrough

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	nodeutil "k8s.io/kubernetes/pkg/util/node"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// glance is how long to wait between two looks at the cluster.
const glance = 100 * time.Millisecond

func (w *walk) podsClient() corev1.PodInterface {
	return w.client.CoreV1().Pods(metav1.NamespaceDefault)
}

// createNode makes a node and waits until it is Ready.
func (w *walk) createNode(ctx context.Context, meta metav1.ObjectMeta) (name string, err error) {
	nodes := w.client.CoreV1().Nodes()
	node, err := nodes.Create(ctx, &v1.Node{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create node %s%s: %w", meta.Name, meta.GenerateName, err)
	}
	err = wait.PollUntilContextCancel(ctx, glance, true, func(ctx context.Context) (bool, error) {
		node, err = nodes.Get(ctx, node.Name, metav1.GetOptions{})
		return err == nil && nodeutil.IsNodeReady(node), err
	})
	if err != nil {
		return "", fmt.Errorf("node %s does not become Ready: %w", node.Name, err)
	}
	return node.Name, nil
}

func (w *walk) createPod(ctx context.Context, p *pod) error {
	object := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Annotations: map[string]string{}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "web", Image: "web"}}},
	}
	for key, pattern := range map[string]*string{regex.Annotation: p.regex, regex.ExcludeAnnotation: p.exclude} {
		if pattern != nil {
			object.Annotations[key] = *pattern
		}
	}
	if _, err := w.podsClient().Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create pod %s: %w", p.name, err)
	}
	return nil
}

// annotate gives a pod another regex.
func (w *walk) annotate(ctx context.Context, p *pod, pattern string) error {
	p.regex = &pattern
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, regex.Annotation, pattern)
	if _, err := w.podsClient().Patch(ctx, p.name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("annotate pod %s: %w", p.name, err)
	}
	return nil
}

// await waits until a pod is as expected.
func (w *walk) await(ctx context.Context, p *pod, expected expectation) error {
	unmet := "was not found"
	err := wait.PollUntilContextCancel(ctx, glance, true, func(ctx context.Context) (bool, error) {
		found, err := w.podsClient().Get(ctx, p.name, metav1.GetOptions{})
		if err == nil {
			p.seen, unmet = found, expected.unmet(found)
		}
		return unmet == "", err
	})
	if err != nil {
		return fmt.Errorf("pod %s %s (%w)", p.name, unmet, err)
	}
	return nil
}
