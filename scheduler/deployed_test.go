package scheduler

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
)

// TestKubectlAsksTheSchedulerOfDeploy runs the two replicas of deploy/scheduler/native, with components/decisions, as programs: with
// the arguments, the configuration and the rights that the manifests have, and a certificate as components/servicemonitor mounts it.
func TestKubectlAsksTheSchedulerOfDeploy(t *testing.T) {
	c := startCluster(t)
	c.addNode(t, "a1", nil)
	objects.Create(t, c.CoreV1().Namespaces(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	c.addPod(t, "shop", "web", "5", func(p *v1.Pod) { p.Spec.SchedulerName = "custom-scheduler" })
	deployment, config := c.applyDeploy(t)

	authority, dir := pki.New(t), t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	authority.Issue(t, certFile, keyFile, time.Hour)
	user := append([]string{serviceaccount.MakeUsername("regex-scheduling", deployment.Spec.Template.Spec.ServiceAccountName)}, serviceaccount.MakeGroupNames("regex-scheduling")...)
	args := append(deployment.Spec.Template.Spec.Containers[0].Args[1:], "--tls-cert-file="+certFile, "--tls-private-key-file="+keyFile)
	leader := c.runReplicaOf(t, config, user, args...)
	objects.WaitForPod(t, c, "shop", "web", " is tried", func(p *v1.Pod) bool { return len(p.Status.Conditions) > 0 })
	standby := c.runReplicaOf(t, config, user, args...)
	at := map[string]string{}
	testkit.Eventually(t, "the Deployment has its pods", func(ctx context.Context) error {
		pods, err := c.CoreV1().Pods("regex-scheduling").List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) != 2 {
			err = fmt.Errorf("%d pods", len(pods.Items))
		}
		if err == nil {
			at[pods.Items[0].Name], at[pods.Items[1].Name] = standby.address, leader.address
		}
		return err
	})
	reaches := func(pod string) string { return at[pod] }
	const answer = "Pod shop/web is pending because the cluster's only node cannot run it: 1 node does not have enough free cpu"

	t.Run("a developer with a certificate", func(t *testing.T) {
		c.bind(t, rbacv1.UserKind, "developer", "")
		out, errOut := kubectlWhy(t, "web", "-n", "shop", "--kubeconfig", c.kubeconfig(t, "developer", reaches))
		testkit.Has(t, out+errOut, answer, " is not checked, so no token of yours is sent: it is shown your client certificate. See")
	})
	t.Run("an administrator with a token", func(t *testing.T) {
		out, errOut := kubectlWhy(t, "web", "-n", "shop", "--kubeconfig", useToken(t, c.kubeconfig(t, "admin", reaches, "system:masters"), adminsToken))
		testkit.Has(t, out+errOut, answer)
	})
	t.Run("a developer with a token", func(t *testing.T) {
		c.bind(t, rbacv1.ServiceAccountKind, "ci", "shop")
		objects.Create(t, c.CoreV1().ServiceAccounts("shop"), &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "ci"}})
		kubeconfig := useToken(t, c.kubeconfig(t, serviceaccount.MakeUsername("shop", "ci"), reaches, serviceaccount.MakeGroupNames("shop")...), c.token(t, "shop", "ci"))
		out, errOut := kubectlWhy(t, "web", "-n", "shop", "--kubeconfig", kubeconfig)
		testkit.Has(t, out+errOut, "a token for schedulers cannot be made: ", "Verdict:  it has no annotation")
		out, errOut = kubectlWhy(t, "web", "-n", "shop", "--kubeconfig", kubeconfig, "--scheduler-certificate-authority", authority.File)
		if !strings.HasPrefix(out, answer) || errOut != "" {
			t.Errorf("with the authority: %s%s", errOut, out)
		}
	})
	t.Run("a token for schedulers is for decisions only", func(t *testing.T) {
		token := &rest.Config{BearerToken: c.token(t, "regex-scheduling", decisions.Account, decisions.Audience)}
		c.wantAnswer(t, token, leader, decisions.Path+"shop/web", "200 ")
		c.wantAnswer(t, token, leader, "/metrics", "401 ")
		if c.accepts(t, "Bearer "+token.BearerToken) {
			t.Error("the API server accepts it")
		}
		token.BearerToken = c.token(t, "regex-scheduling", decisions.Account, "somebody-else")
		c.wantAnswer(t, token, leader, decisions.Path+"shop/web", "401 ")
	})
}

// applyDeploy applies the manifests, and returns the scheduler's Deployment and configuration.
func (c *liveCluster) applyDeploy(t *testing.T) (deployment appsv1.Deployment, config string) {
	t.Helper()
	dir := t.TempDir()
	here, err := os.Getwd()
	testkit.Must(t, err)
	deploy, err := filepath.Rel(dir, filepath.Join(here, "..", "deploy"))
	testkit.Must(t, err)
	text := fmt.Sprintf("resources: [%[1]s/namespace, %[1]s/scheduler/native]\ncomponents: [%[1]s/scheduler/components/decisions]\n", deploy)
	testkit.WriteFile(t, filepath.Join(dir, "kustomization.yaml"), text)
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	testkit.Must(t, err)
	for _, resource := range rendered.Resources() {
		content, err := resource.Map()
		testkit.Must(t, err)
		c.create(t, &unstructured.Unstructured{Object: content})
		switch resource.GetKind() {
		case "Deployment":
			testkit.Must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(content, &deployment))
		case "ConfigMap":
			var is v1.ConfigMap
			testkit.Must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(content, &is))
			config = is.Data["config.yaml"]
		}
	}
	return deployment, config
}

// bind gives somebody what docs/production.md says, and the right to get the pods of a namespace.
func (c *liveCluster) bind(t *testing.T, kind, name, namespace string) {
	t.Helper()
	who := []rbacv1.Subject{{Kind: kind, Name: name, Namespace: namespace}}
	meta := metav1.ObjectMeta{Name: "of-" + name}
	objects.Create(t, c.RbacV1().ClusterRoleBindings(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, Subjects: who, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "regex-scheduling-decisions"},
	})
	pods := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}}
	objects.Create(t, c.RbacV1().Roles("shop"), pods)
	for in, role := range map[string]string{"shop": pods.Name, "regex-scheduling": "custom-scheduler-decisions"} {
		objects.Create(t, c.RbacV1().RoleBindings(in), &rbacv1.RoleBinding{
			ObjectMeta: meta, Subjects: who, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: role},
		})
	}
}

// token makes a token of a service account.
func (c *liveCluster) token(t *testing.T, namespace, account string, audiences ...string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	made, err := c.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, request, metav1.CreateOptions{})
	testkit.Must(t, err)
	return made.Status.Token
}
