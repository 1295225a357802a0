package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestKubeconfigsWorkAndArePrivate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scheduler.kubeconfig")
	testkit.Must(t, os.WriteFile(file, nil, 0o644)) // open for others
	testkit.Must(t, sharedCluster.WriteKubeconfig(file, "system:kube-scheduler"))
	for _, kubeconfig := range []string{sharedCluster.Kubeconfig(), file} {
		info, err := os.Stat(kubeconfig)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, want 0600: %v", info.Mode(), err)
		}
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		testkit.Must(t, err)
		_, err = clientOf(t, config).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		testkit.Must(t, err)
	}
}

func TestNothingInTheDataDirectoryIsForOthers(t *testing.T) {
	testkit.Must(t, filepath.WalkDir(sharedCluster.DataDir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		inEtcd := filepath.Base(filepath.Dir(path)) == etcdDir // guarded by its directory
		if info.Mode().Perm()&0o077 != 0 && !inEtcd {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	}))
}

func TestWithoutACertificateEveryRequestIsUnauthorized(t *testing.T) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(sharedCluster.AdminConfig().CAData)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	for _, path := range []string{"/api/v1/nodes", "/version", "/readyz", "/metrics"} {
		response, err := client.Get(sharedCluster.Host() + path)
		testkit.Must(t, err)
		response.Body.Close()
		testkit.Equal(t, response.StatusCode, http.StatusUnauthorized, "the status of %s", path)
	}
}

func TestIdentityHasItsOwnRightsOnly(t *testing.T) {
	scheduler, err := sharedCluster.ClientConfig("system:kube-scheduler")
	testkit.Must(t, err)
	client := clientOf(t, scheduler)
	if _, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the scheduler may not list pods: %v", err)
	}
	if _, err := client.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the scheduler lists secrets: %v, want forbidden", err)
	}
	stranger, err := sharedCluster.ClientConfig("stranger")
	testkit.Must(t, err)
	if _, err := clientOf(t, stranger).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a user without rights lists pods: %v, want forbidden", err)
	}
}

// view, edit and admin begin empty: the API server makes them for a controller to fill.
func TestClusterRolesForPeopleAllowWhatTheyDoInAnyCluster(t *testing.T) {
	admin := clientOf(t, sharedCluster.AdminConfig())
	const kind = "example.com"
	create(t, admin.CoreV1().RESTClient(), "/apis/rbac.authorization.k8s.io/v1/clusterroles", `
metadata: {name: view-of-mine, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}
rules: [{apiGroups: [example.com], resources: [mine], verbs: [get]}]`)
	for _, role := range []string{"view", "edit", "admin"} {
		create(t, admin.CoreV1().RESTClient(), "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", fmt.Sprintf(`
metadata: {name: %[1]s}
roleRef: {kind: ClusterRole, name: %[1]s}
subjects: [{kind: User, name: %[1]ser}]`, role))
	}
	for _, tt := range []struct {
		user, verb, group, resource string
		want                        bool
	}{
		{"viewer", "list", "", "pods", true},
		{"viewer", "get", kind, "mine", true},
		{"viewer", "create", "apps", "deployments", false},
		{"editer", "create", "apps", "deployments", true},
		{"editer", "create", "rbac.authorization.k8s.io", "roles", false},
		{"adminer", "create", "rbac.authorization.k8s.io", "roles", true},
	} {
		testkit.Eventually(t, tt.user+" gets the rights of its role", func(ctx context.Context) error {
			review, err := admin.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: tt.user, ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: tt.verb, Group: tt.group, Resource: tt.resource},
			}}, metav1.CreateOptions{})
			if err == nil && review.Status.Allowed != tt.want {
				err = fmt.Errorf("may %s %s: %v", tt.verb, tt.resource, review.Status.Allowed)
			}
			return err
		})
	}
}
