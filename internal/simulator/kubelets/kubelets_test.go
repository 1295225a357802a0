package kubelets

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

var (
	admin  *rest.Config
	client kubernetes.Interface
	stop   func()      // ends the kubelets that run
	logs   testkit.Log // what they warn of
)

// TestMain gives all tests one cluster, in which kubelets run.
func TestMain(m *testing.M) {
	testkit.Main(m, func(ctx context.Context) (func() error, error) {
		cluster, err := controlplane.Start(ctx, controlplane.Config{})
		if err != nil {
			return nil, err
		}
		admin = cluster.AdminConfig()
		client, err = kubernetes.NewForConfig(admin)
		return func() error { stop(); return cluster.Stop() }, errors.Join(err, startAll(admin))
	})
}

// startAll starts kubelets, and returns once they have begun. stop waits for their end.
func startAll(config *rest.Config) error {
	connections := connrotation.NewDialer((&net.Dialer{}).DialContext)
	config = rest.CopyConfig(config)
	config.Dial = connections.DialContext
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, 0)
	shared.Core().V1().Nodes().Informer()
	shared.Core().V1().Pods().Informer()
	ctx, cancel := context.WithCancel(context.Background())
	shared.Start(ctx.Done())
	shared.WaitForCacheSync(ctx.Done())
	wait, err := Start(ctx, client, shared, log.New(&logs, "", 0))
	stop = func() {
		cancel()
		wait()
		shared.Shutdown()
		connections.CloseAll()
	}
	return err
}

// restart ends the kubelets, and starts others with config, as another process
// would.
func restart(t testing.TB, config *rest.Config, between func()) {
	t.Helper()
	stop()
	between()
	testkit.Must(t, startAll(config))
}

func TestNodeOfWhichOnlyTheNameIsKnownBecomesReady(t *testing.T) {
	newNode(t, "kubecon-1")
	node := usableNode(t, "kubecon-1")
	for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		quantity := node.Status.Allocatable[resource]
		if quantity.IsZero() {
			t.Errorf("no allocatable %s", resource)
		}
	}
	if len(node.Spec.Taints) > 0 || node.Spec.Unschedulable {
		t.Errorf("nothing can be scheduled: %+v", node.Spec)
	}
	leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	testkit.EventuallyIs(t, "kubecon-1", leases.Get, func(*coordinationv1.Lease) bool { return true })
	testkit.EventuallyIs(t, "kubecon-1", client.StorageV1().CSINodes().Get, func(on *storagev1.CSINode) bool { return on.OwnerReferences[0].UID == node.UID })
}

func TestDriversOfANodeStay(t *testing.T) {
	nodes := client.StorageV1().CSINodes()
	on := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "with-drivers"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "csi.example.com", NodeID: "n"}}}}
	_, err := nodes.Create(t.Context(), on, metav1.CreateOptions{})
	testkit.Must(t, err)
	newNode(t, "with-drivers")
	usableNode(t, "with-drivers")
	on, err = nodes.Get(t.Context(), "with-drivers", metav1.GetOptions{})
	if err != nil || len(on.OwnerReferences) != 1 || len(on.Spec.Drivers) != 1 {
		t.Errorf("%+v, %v", on, err)
	}
}

// usableNode waits until pods can be scheduled to a node.
func usableNode(t *testing.T, name string) *corev1.Node {
	t.Helper()
	return testkit.EventuallyIs(t, name, client.CoreV1().Nodes().Get, func(node *corev1.Node) bool {
		return !node.Status.Allocatable.Pods().IsZero() && !node.Status.Capacity.Pods().IsZero() && readyStatus(node) == corev1.ConditionTrue
	})
}

// newNode makes a node for one test.
func newNode(t testing.TB, name string) {
	t.Helper()
	makeNode(t, name)
	t.Cleanup(func() { removeNode(t, name) })
}

// removeNode leaves nothing to the next run of a test.
func removeNode(t testing.TB, name string) {
	testkit.Must(t, client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}))
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

func inParallel(n int, do func(i int)) { workqueue.ParallelizeUntil(context.Background(), 32, n, do) }
