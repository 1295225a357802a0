package deploy

import (
	"context"
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-helpers/auth/rbac/validation"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	objectkit "wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

// schedulerUser is who the pods of the scheduler are to the API.
const schedulerUser = "system:serviceaccount:" + namespace + ":custom-scheduler"

// schedulerGroups are the groups that every ServiceAccount is in.
var schedulerGroups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}

// installScheduler applies one of the scheduler's folders.
func installScheduler(t *testing.T, variant string) {
	t.Helper()
	rendered := mustRender(t, "scheduler/"+variant)
	account := ofKind[appsv1.Deployment](t, rendered, "Deployment")[0].Spec.Template.Spec.ServiceAccountName
	testkit.Equal(t, account, "custom-scheduler", "the scheduler's account")
	mustApply(t, rendered)
}

// newer is what the roles of a minor allow, and those of the minors before do not: our
// rules serve a scheduler of each minor.
var newer = map[string][]rbacv1.PolicyRule{
	"37": {
		{APIGroups: []string{"resource.k8s.io"}, Resources: []string{"devicetaintrules"}, Verbs: []string{"list", "watch"}},
	},
	"36": {
		{APIGroups: []string{"resource.k8s.io"}, Resources: []string{"resourceclaims"}, Verbs: []string{"create", "delete"}},
		{APIGroups: []string{"resource.k8s.io"}, Resources: []string{"resourceclaims/binding"}, Verbs: []string{"patch", "update"}},
	},
}

// TestSchedulerMayDoNoMoreThanKubernetesOwn compares the rules with the
// roles that Kubernetes has for its scheduler.
func TestSchedulerMayDoNoMoreThanKubernetesOwn(t *testing.T) {
	var theirs []rbacv1.PolicyRule
	for _, name := range []string{"system:kube-scheduler", "system:volume-scheduler"} {
		role, err := client.RbacV1().ClusterRoles().Get(t.Context(), name, metav1.GetOptions{})
		testkit.Must(t, err)
		theirs = append(theirs, role.Rules...)
	}
	server, err := client.Discovery().ServerVersion()
	testkit.Must(t, err)
	for since, rules := range newer {
		if server.Minor < since {
			theirs = append(theirs, rules...)
		}
	}
	ours := ofKind[rbacv1.ClusterRole](t, mustRender(t, "scheduler/base"), "ClusterRole")[0].Rules
	covered, more := validation.Covers(theirs, ours)
	testkit.Equal(t, covered, true, "it may also %v", more)
	covered, _ = validation.Covers(ours, theirs)
	testkit.Equal(t, covered, false, "it may do all that they may")
}

// wantMayLead has a client take the lease of a configuration of the scheduler, which is that one.
func wantMayLead(t *testing.T, scheduler kubernetes.Interface, config, space, name string) {
	t.Helper()
	var c struct {
		LeaderElection struct{ ResourceNamespace, ResourceName string }
	}
	testkit.Must(t, yaml.Unmarshal([]byte(config), &c))
	testkit.Equal(t, c.LeaderElection.ResourceNamespace, space, "the namespace of its lease")
	testkit.Equal(t, c.LeaderElection.ResourceName, name, "the name of its lease")
	lock := lockOf(scheduler, space, name, "test")
	record := resourcelock.LeaderElectionRecord{HolderIdentity: "test", LeaseDurationSeconds: 15}
	testkit.Eventually(t, "create the lease", func(ctx context.Context) error {
		err := lock.Create(ctx, record)
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	_, _, err := lock.Get(t.Context())
	testkit.Must(t, err)
	testkit.Must(t, lock.Update(t.Context(), record))
	objectkit.Create(t, scheduler.CoreV1().Events(space), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "elected-"},
		InvolvedObject: corev1.ObjectReference{Kind: "Lease", Namespace: space, Name: name},
	})
}

func lockOf(c kubernetes.Interface, space, name, identity string) *resourcelock.LeaseLock {
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: space, Name: name},
		Client:     c.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
}

// Its ClusterRole is compared above; these are what its Roles allow, and what they could.
func TestSchedulerMayLeadAndAskWhoReadsItsMetricsAndNothingElse(t *testing.T) {
	installScheduler(t, "native")
	scheduler := clientOf(t, schedulerUser, schedulerGroups...)
	wantMayLead(t, scheduler, configOf(t, mustRender(t, "scheduler/native")), namespace, "custom-scheduler")
	testkit.Must(t, client.CoordinationV1().Leases(namespace).Delete(t.Context(), "custom-scheduler", metav1.DeleteOptions{}))
	testkit.Eventually(t, "review a token", func(ctx context.Context) error {
		_, err := scheduler.AuthenticationV1().TokenReviews().Create(ctx,
			&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "x"}}, metav1.CreateOptions{})
		return err
	})
	objectkit.Create(t, scheduler.AuthorizationV1().SubjectAccessReviews(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: "someone", NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}},
	})
	testkit.Eventually(t, "list pods", func(ctx context.Context) error {
		_, err := scheduler.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		return err
	})
	core, coordination := scheduler.CoreV1().RESTClient(), scheduler.CoordinationV1().RESTClient()
	for what, request := range map[string]*rest.Request{
		"read secrets":                              core.Get().Namespace(namespace).Resource("secrets"),
		"read the ConfigMaps of kube-system":        core.Get().Namespace("kube-system").Resource("configmaps"),
		"take the lease of the cluster's scheduler": coordination.Get().Namespace("kube-system").Resource("leases").Name("kube-scheduler"),
		"delete leases":                             coordination.Delete().Namespace(namespace).Resource("leases").Name("custom-scheduler"),
	} {
		if err := request.Do(t.Context()).Error(); !apierrors.IsForbidden(err) {
			t.Errorf("it may %s: %v", what, err)
		}
	}
}

// What kubectl regex why asks for.
func TestRolesOfDecisionsAreWhatKubectlNeeds(t *testing.T) {
	rendered := nativeWith(t, "decisions")
	mustApply(t, rendered, metav1.DryRunAll)
	asked := []rbacv1.PolicyRule{
		{NonResourceURLs: []string{decisions.Path + "shop/web-0"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"pods/portforward"}, Verbs: []string{"create", "get"}},
	}
	var given []rbacv1.PolicyRule
	for _, role := range ofKind[rbacv1.ClusterRole](t, rendered, "ClusterRole") {
		if role.Name == "regex-scheduling-decisions" {
			given = append(given, role.Rules...)
		}
	}
	for _, role := range ofKind[rbacv1.Role](t, rendered, "Role") {
		if role.Name == "custom-scheduler-decisions" {
			given = append(given, role.Rules...)
		}
	}
	covered, more := validation.Covers(given, asked)
	testkit.Equal(t, covered, true, "they lack %v", more)
}

// TestDecisionsForwardNoPortsOfOtherPods asks for ports of pods that are not there: a request that is admitted fails by that.
func TestDecisionsForwardNoPortsOfOtherPods(t *testing.T) {
	mustApply(t, nativeWith(t, "decisions"))
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "custom-scheduler-decisions"}
	objectkit.Create(t, client.RbacV1().RoleBindings(namespace), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "developer"}, RoleRef: role, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "developer"}},
	})
	developer := clientOf(t, "developer", "system:authenticated")
	forward := func(ctx context.Context, who kubernetes.Interface, verb, pod string) error {
		return who.CoreV1().RESTClient().Verb(verb).Namespace(namespace).Resource("pods").Name(pod).SubResource("portforward").Do(ctx).Error()
	}
	testkit.EventuallyHas(t, "the policy is in force for the developer", func() string {
		return testkit.Message(forward(t.Context(), developer, http.MethodPost, "extender-5d5f-x"))
	}, "only ports of the pods of custom-scheduler may be forwarded")
	for _, verb := range []string{http.MethodPost, http.MethodGet} {
		for what, err := range map[string]error{
			"the developer, of the scheduler":   forward(t.Context(), developer, verb, "custom-scheduler-5d5f-x"),
			"an administrator, of the extender": forward(t.Context(), client, verb, "extender-5d5f-x"),
		} {
			if !apierrors.IsNotFound(err) {
				t.Errorf("%s, %s: %v", verb, what, err)
			}
		}
		if err := forward(t.Context(), developer, verb, "simulator-5d5f-x"); err == nil || apierrors.IsNotFound(err) {
			t.Errorf("%s, the developer, of the simulator: %v", verb, err)
		}
	}
}

func TestSchedulerInPlaceOfTheClustersHasItsPriority(t *testing.T) {
	rendered := nativeWith(t, "default-scheduler")
	ours := ofKind[flowcontrolv1.FlowSchema](t, rendered, "FlowSchema")
	theirs := []*flowcontrolv1.FlowSchema{bootstrap.SuggestedFlowSchemaKubeScheduler, bootstrap.SuggestedFlowSchemaSystemLeaderElection}
	if len(ours) != len(theirs) {
		t.Fatalf("%d FlowSchemas", len(ours))
	}
	who := flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindServiceAccount, ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: namespace, Name: "custom-scheduler"}}
	for i := range ours {
		want := theirs[i].DeepCopy().Spec
		want.Rules[0].Subjects = []flowcontrolv1.Subject{who}
		if !equality.Semantic.DeepEqual(ours[i].Spec, want) {
			t.Errorf("%s is\n%v\nwant\n%v", ours[i].Name, ours[i].Spec, want)
		}
	}
	mustApply(t, rendered, metav1.DryRunAll)
}
