package kwok

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/eventually"
)

var (
	admin  *rest.Config
	client kubernetes.Interface
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run gives all tests one cluster, in which KWOK runs.
func run(m *testing.M) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cluster, err := controlplane.Start(context.Background(), controlplane.Config{})
	if err != nil {
		return fail(err)
	}
	defer cluster.Stop()
	admin = cluster.AdminConfig()
	if client, err = kubernetes.NewForConfig(admin); err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := Start(ctx, admin, os.Stderr); err != nil {
		return fail(err)
	}
	return m.Run()
}

func TestANodeOfWhichOnlyTheNameIsKnownBecomesReady(t *testing.T) {
	newNode(t, "kubecon-1")
	node := readyNode(t, "kubecon-1")
	for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		if quantity := node.Status.Allocatable[resource]; quantity.IsZero() {
			t.Errorf("no allocatable %s", resource)
		}
	}
	if len(node.Spec.Taints) > 0 || node.Spec.Unschedulable {
		t.Errorf("nothing can be scheduled: %+v", node.Spec)
	}
	eventually.Succeeds(t, "the node has a lease", func(ctx context.Context) error {
		_, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, "kubecon-1", metav1.GetOptions{})
		return err
	})
}

func TestCapacityThatANodeBringsIsKept(t *testing.T) {
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourcePods: resource.MustParse("5"),
	}
	small := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Status: corev1.NodeStatus{Capacity: room, Allocatable: room}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), small, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeNode(t, "small") })
	node := readyNode(t, "small")
	if pods := node.Status.Allocatable.Pods().Value(); pods != 5 {
		t.Errorf("%d pods, want 5", pods)
	}
}

func TestABoundPodRunsAndGoesWhenDeleted(t *testing.T) {
	newNode(t, "kubecon-2")
	makePod(t, "kubecon-2", "web")
	pods := client.CoreV1().Pods("default")
	eventually.Succeeds(t, "the pod runs", func(ctx context.Context) error {
		pod, err := pods.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("phase %s", pod.Status.Phase)
		}
		if _, err := netip.ParseAddr(pod.Status.PodIP); err != nil {
			t.Errorf("address %q: %v", pod.Status.PodIP, err)
		}
		return nil
	})
	if err := pods.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "the pod goes", func(ctx context.Context) error {
		_, err := pods.Get(ctx, "web", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still there: %w", err)
	})
}

func TestAPodWithoutANodeStaysPending(t *testing.T) {
	makePod(t, "", "waiting")
	t.Cleanup(func() { removePod(t, "waiting") })
	newNode(t, "kubecon-3")
	readyNode(t, "kubecon-3") // KWOK has had its say
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), "waiting", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pod.Status.Phase != corev1.PodPending {
		t.Errorf("phase %s, want Pending", pod.Status.Phase)
	}
}

func TestNothingPilesUpWhenKwokIsStartedAgainAndAgain(t *testing.T) {
	newNode(t, "kubecon-4")
	readyNode(t, "kubecon-4")
	var after []int
	for range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		if err := Start(ctx, admin, nil); err != nil {
			t.Fatal(err)
		}
		running := runtime.NumGoroutine()
		cancel()
		eventually.Succeeds(t, "most of it ends", func(context.Context) error {
			if now := runtime.NumGoroutine(); now > running-3*parallelism {
				return fmt.Errorf("%d goroutines of %d are left", now, running)
			}
			return nil
		})
		after = append(after, settled())
	}
	if after[3] > after[0]+3*leftBehind {
		t.Errorf("goroutines after each stop: %v", after)
	}
}

// leftBehind is what one KWOK leaves, five goroutines that upstream cannot stop,
// and a few of the client's that come and go.
const leftBehind = 5 + 5

// settled counts the goroutines once their number no longer falls.
func settled() int {
	n := runtime.NumGoroutine()
	for {
		time.Sleep(200 * time.Millisecond)
		now := runtime.NumGoroutine()
		if now >= n {
			return now
		}
		n = now
	}
}

func readyNode(t *testing.T, name string) *corev1.Node {
	t.Helper()
	var node *corev1.Node
	eventually.Succeeds(t, "node "+name+" is ready", func(ctx context.Context) (err error) {
		if node, err = client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return readiness(node)
	})
	return node
}

func readiness(node *corev1.Node) error {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("conditions %+v", node.Status.Conditions)
}

// newNode makes a node for one test.
func newNode(t testing.TB, name string) {
	t.Helper()
	makeNode(t, name)
	t.Cleanup(func() { removeNode(t, name) })
}

// removeNode and removePod leave nothing to the next run of a test.
func removeNode(t testing.TB, name string) {
	if err := client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func removePod(t testing.TB, name string) {
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	if err := client.CoreV1().Pods("default").Delete(context.Background(), name, now); err != nil {
		t.Error(err)
	}
}

func makeNode(t testing.TB, name string) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

func makePod(t testing.TB, node, name string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Containers: []corev1.Container{{Name: "main", Image: "example.com/none"}},
		},
	}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}
