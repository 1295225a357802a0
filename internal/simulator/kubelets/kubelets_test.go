package kubelets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
	"k8s.io/client-go/util/retry"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/observe"
)

var (
	admin  *rest.Config
	client kubernetes.Interface
	stop   func()      // ends the kubelets that run
	logs   observe.Log // what they warn of
)

func TestMain(m *testing.M) {
	os.Exit(withCluster(m.Run))
}

// withCluster gives all tests one cluster, in which kubelets run.
func withCluster(tests func() int) int {
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
	if err := startAll(admin); err != nil {
		return fail(err)
	}
	defer func() { stop() }()
	return tests()
}

func startAll(config *rest.Config) (err error) {
	stop, err = startWith(config, &logs)
	return err
}

// startWith starts kubelets, and returns once they have begun. stop waits for their
// end.
func startWith(config *rest.Config, logs io.Writer) (stop func(), err error) {
	connections := connrotation.NewDialer((&net.Dialer{}).DialContext)
	config = rest.CopyConfig(config)
	config.Dial = connections.DialContext
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	shared := informers.NewSharedInformerFactory(client, 0)
	shared.Core().V1().Nodes().Informer()
	shared.Core().V1().Pods().Informer()
	ctx, cancel := context.WithCancel(context.Background())
	shared.Start(ctx.Done())
	shared.WaitForCacheSync(ctx.Done())
	wait, err := Start(ctx, client, shared, logs)
	return func() {
		cancel()
		wait()
		shared.Shutdown()
		connections.CloseAll()
	}, err
}

// restart ends the kubelets, and starts others with config, as another process
// would.
func restart(t testing.TB, config *rest.Config, between func()) {
	t.Helper()
	stop()
	between()
	if err := startAll(config); err != nil {
		t.Fatal(err)
	}
}

func TestNodeOfWhichOnlyTheNameIsKnownBecomesReady(t *testing.T) {
	newNode(t, "kubecon-1")
	node := readyNode(t, "kubecon-1")
	for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		quantity := node.Status.Allocatable[resource]
		if quantity.IsZero() {
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
	pods := node.Status.Allocatable.Pods().Value()
	if pods != 5 {
		t.Errorf("%d pods, want 5", pods)
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

// removeNode leaves nothing to the next run of a test.
func removeNode(t testing.TB, name string) {
	if err := client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func makeNode(t testing.TB, name string) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	retried(t, apierrors.IsAlreadyExists, func() error {
		_, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
		return err
	})
}

func deleteNode(t testing.TB, name string) {
	t.Helper()
	retried(t, apierrors.IsNotFound, func() error {
		return client.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{})
	})
}

// retried repeats a request that etcd did not answer within its six seconds, as a controller
// would: on a machine that is busy enough, that happens. The request may have been
// carried out: carriedOut reports whether an error of the next one says so.
func retried(t testing.TB, carriedOut func(error) bool, request func() error) {
	t.Helper()
	unanswered := func(err error) bool {
		status := apierrors.APIStatus(nil)
		return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError
	}
	again := false
	err := retry.OnError(wait.Backoff{Steps: 20, Duration: time.Second}, unanswered, func() error {
		err := request()
		if again && carriedOut(err) {
			return nil
		}
		again = true
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
