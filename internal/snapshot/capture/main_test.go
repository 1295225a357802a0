package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// real is the cluster that snapshots are taken of, reader who may take them by the
// ClusterRole of the documentation, and stranger who may do nothing.
var (
	real             *controlplane.Cluster
	client           kubernetes.Interface
	reader, stranger string // kubeconfigs
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	if err := start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := real.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}

func start(ctx context.Context) (err error) {
	if real, err = controlplane.Start(ctx, controlplane.Config{}); err != nil {
		return err
	}
	if err := real.Pause(); err != nil { // no controller adds to what the tests make
		return err
	}
	if client, err = kubernetes.NewForConfig(real.AdminConfig()); err != nil {
		return err
	}
	reader, stranger = filepath.Join(real.DataDir(), "reader"), filepath.Join(real.DataDir(), "stranger")
	if err := real.WriteKubeconfig(reader, "reader"); err != nil {
		return err
	}
	if err := real.WriteKubeconfig(stranger, "stranger"); err != nil {
		return err
	}
	role, err := documentedRole()
	if err != nil {
		return err
	}
	return grant(ctx, role, "reader")
}

func documentedRole() (*rbacv1.ClusterRole, error) {
	text, err := os.ReadFile("../../../docs/snapshot-clusterrole.yaml")
	if err != nil {
		return nil, err
	}
	role := &rbacv1.ClusterRole{}
	return role, yaml.UnmarshalStrict(text, role)
}

// grant gives a user a role, and waits until the authorizer knows of it.
func grant(ctx context.Context, role *rbacv1.ClusterRole, user string) error {
	role, err := client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	if _, err = client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "nodes"},
	}}
	var answer *authorizationv1.SubjectAccessReview
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, testkit.Patience, true, func(ctx context.Context) (ok bool, err error) {
		answer, err = client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed, err
	})
	if err != nil {
		return fmt.Errorf("%s may not list nodes: %w: %+v", user, err, answer)
	}
	return nil
}
