package controlplane

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

func TestPodsCanBeMadeInANewNamespaceAtOnceAndGoWithIt(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	namespaces := client.CoreV1().Namespaces()
	fresh := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fresh"}}
	if _, err := namespaces.Create(t.Context(), fresh, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod, err := client.CoreV1().Pods("fresh").Create(t.Context(), podOn("", "web"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := len(pod.Spec.Volumes)
	if n != 0 {
		t.Errorf("the pod was given %d volumes", n)
	}
	if err := namespaces.Delete(t.Context(), "fresh", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "namespace goes", func(ctx context.Context) error {
		_, err := namespaces.Get(ctx, "fresh", metav1.GetOptions{})
		return gone(err)
	})
}

func TestWhatADeletedObjectOwnedGoesToo(t *testing.T) {
	t.Parallel()
	maps := clientOf(t, sharedCluster.AdminConfig()).CoreV1().ConfigMaps("default")
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name:            "owned",
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
	}}
	if _, err := maps.Create(t.Context(), owned, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "owned object goes", func(ctx context.Context) error {
		_, err := maps.Get(ctx, "owned", metav1.GetOptions{})
		return gone(err)
	})
}

func TestPodsOfADeletedNodeGo(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "short-lived"}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pods := client.CoreV1().Pods("default")
	if _, err := pods.Create(t.Context(), podOn("short-lived", "orphan"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Create(t.Context(), podOn("", "unbound"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().Nodes().Delete(t.Context(), "short-lived", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "orphan goes", func(ctx context.Context) error {
		_, err := pods.Get(ctx, "orphan", metav1.GetOptions{})
		return gone(err)
	})
	if err := pods.Delete(t.Context(), "unbound", atOnce); err != nil {
		t.Errorf("the pod without a node: %v", err)
	}
}

func TestTerminatingPodsOfANodeThatIsOutOfServiceGo(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "shut-down"}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeNode(t, client, "shut-down") })
	pods := client.CoreV1().Pods("default")
	for _, name := range []string{"terminating", "not-deleted"} {
		if _, err := pods.Create(t.Context(), podOn("shut-down", name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := pods.Delete(t.Context(), "terminating", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	patchNode(t, client, "shut-down", `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoSchedule"}]}}`)
	eventually.Succeeds(t, "the pod that was deleted goes", func(ctx context.Context) error {
		_, err := pods.Get(ctx, "terminating", metav1.GetOptions{})
		return gone(err)
	})
	if err := pods.Delete(t.Context(), "not-deleted", atOnce); err != nil {
		t.Errorf("the pod that was not: %v", err)
	}
}

// atOnce leaves nothing to the next run of a test.
var atOnce = metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}

func TestClaimCanBeDeleted(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	claims := client.CoreV1().PersistentVolumeClaims("default")
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: *oneGi()}},
		},
	}
	if _, err := claims.Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := claims.Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
	if gone(err) != nil {
		t.Errorf("claim after its deletion: %v", err)
	}
}

// gone turns "not found" into success and anything else into an error.
func gone(err error) error {
	switch {
	case err == nil:
		return errors.New("it is still there")
	case apierrors.IsNotFound(err):
		return nil
	default:
		return err
	}
}
