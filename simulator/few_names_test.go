package simulator

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/recorder"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// A pattern that matches few names keeps the scheduler from looking at other
// nodes. Its pod must fare no worse for it.
func TestAPodForFewNames(t *testing.T) {
	for _, variant := range []string{"v2", "native"} {
		t.Run(variant, func(t *testing.T) {
			s, err := Start(t.Context(), Config{Variant: variant, Progress: func(string) {}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Stop(); err != nil {
					t.Error(err)
				}
			})
			c := kubectl{t, kubernetes.NewForConfigOrDie(s.AdminConfig())}
			c.node("other")
			c.node("kubecon-1") // the last one, so that the scheduler knows both when it has a node for the pod
			c.pod("present", `^kubecon-[12]$`)
			c.await("present", func(p *v1.Pod) bool { return p.Spec.NodeName == "kubecon-1" })
			told(t, s, "present", `node(s) didn't match the pod's node name regex "^kubecon-[12]$"`)
			c.pod("absent", `^cncf-[12]$`)
			c.await("absent", func(p *v1.Pod) bool {
				return strings.HasPrefix(message(p), `0/2 nodes are available: 2 node(s) didn't match the pod's node name regex "^cncf-[12]$". `)
			})
			told(t, s, "absent", `node(s) didn't match the pod's node name regex "^cncf-[12]$"`)
			c.pod("large", "^kubecon-1$", "100000")
			c.await("large", func(p *v1.Pod) bool {
				said := message(p)
				return strings.HasPrefix(said, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [") &&
					strings.Contains(said, `1 node(s) didn't match the pod's node name regex "^kubecon-1$"`)
			})
			c.node("cncf-2")
			c.await("absent", func(p *v1.Pod) bool { return p.Spec.NodeName == "cncf-2" })
		})
	}
}

// told is what the page tells of the nodes that no Filter was asked about.
func told(t *testing.T, s *Simulator, pod, reason string) {
	t.Helper()
	attempts := s.Recorder().Attempts("default", pod)
	for _, attempt := range attempts {
		for _, group := range attempt.Groups {
			if group.Verdict == recorder.LeftOut && group.Reason == reason && group.Column >= 0 {
				return
			}
		}
	}
	t.Errorf("%s: nobody says %s: %+v", pod, reason, attempts)
}

type kubectl struct {
	*testing.T
	kubernetes.Interface
}

func (c kubectl) node(name string) {
	c.Helper()
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.CoreV1().Nodes().Create(c.Context(), node, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

func (c kubectl) pod(name, pattern string, cpus ...string) {
	c.Helper()
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{regex.Annotation: pattern}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "web", Image: "web"}}},
	}
	for _, n := range cpus {
		pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(n)}
	}
	if _, err := c.CoreV1().Pods("default").Create(c.Context(), pod, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// await waits until a pod is as it should be.
func (c kubectl) await(name string, good func(*v1.Pod) bool) {
	c.Helper()
	var last string
	err := wait.PollUntilContextTimeout(c.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		pod, err := c.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = fmt.Sprintf("on node %q: %s", pod.Spec.NodeName, message(pod))
		return good(pod), nil
	})
	if err != nil {
		c.Fatalf("pod %s: %v; %s", name, err, last)
	}
}

// message is that of the condition PodScheduled.
func message(p *v1.Pod) string {
	for _, condition := range p.Status.Conditions {
		if condition.Type == v1.PodScheduled {
			return condition.Message
		}
	}
	return ""
}
