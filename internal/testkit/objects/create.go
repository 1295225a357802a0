package objects

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// creator is the client of a kind of objects.
type creator[O any] interface {
	Create(ctx context.Context, object O, options metav1.CreateOptions) (O, error)
}

// Create creates an object, or ends the test.
func Create[O any](t testing.TB, in creator[O], object O) {
	t.Helper()
	_, err := in.Create(t.Context(), object, metav1.CreateOptions{})
	testkit.Must(t, err)
}

// Grant gives a user rights in the whole cluster.
func Grant(t testing.TB, client kubernetes.Interface, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	name := metav1.ObjectMeta{Name: user}
	Create(t, client.RbacV1().ClusterRoles(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules})
	Create(t, client.RbacV1().ClusterRoleBindings(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: user},
	})
}

// WaitForPod returns once is accepts the pod. The error, if it never does, has what.
func WaitForPod(t testing.TB, client kubernetes.Interface, namespace, name, what string, is func(*corev1.Pod) bool) {
	t.Helper()
	testkit.Eventually(t, "pod "+name+what, func(ctx context.Context) error {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && !is(pod) {
			err = fmt.Errorf("on node %q: %v", pod.Spec.NodeName, pod.Status.Conditions)
		}
		return err
	})
}
