package controlplane

import (
	"context"
	"fmt"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestEachControllerHasItsOwnIdentity asks what each may do: its role comes with
// the API server, so a name that is not one of upstream's may do nothing.
func TestEachControllerHasItsOwnIdentity(t *testing.T) {
	for account, may := range map[string]string{
		"deployment-controller": "replicasets", "replicaset-controller": "pods", "statefulset-controller": "pods",
		"daemon-set-controller": "pods", "job-controller": "pods", "cronjob-controller": "jobs",
		"persistent-volume-binder": "persistentvolumes", "ephemeral-volume-controller": "persistentvolumeclaims",
		"resource-claim-controller": "resourceclaims",
		"replication-controller":    "pods", "disruption-controller": "events", "node-controller": "events",
	} {
		as, ok := sharedCluster.manager.identities["system:serviceaccount:kube-system:"+account]
		if !ok {
			t.Errorf("%s does not run", account)
			continue
		}
		if !allowed(t, as, "create", may) || allowed(t, as, "create", "secrets") {
			t.Errorf("%s: may it create %s: %t; secrets: %t", account, may, allowed(t, as, "create", may), allowed(t, as, "create", "secrets"))
		}
	}
}

func allowed(t *testing.T, client kubernetes.Interface, verb, resource string) bool {
	t.Helper()
	groups := map[string]string{"replicasets": "apps", "jobs": "batch", "resourceclaims": "resource.k8s.io"}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: verb, Group: groups[resource], Resource: resource},
	}}
	review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
	testkit.Must(t, err)
	return review.Status.Allowed
}

func TestPausedControllersLeaveNothing(t *testing.T) {
	pause := func() {
		testkit.Must(t, sharedCluster.Pause())
	}
	resume := func() {
		testkit.Must(t, sharedCluster.Resume())
	}
	pause()
	for i := range 3 {
		mark := fmt.Sprintf("%s-%d", t.Name(), i)
		testkit.Mark(t.Context(), mark, func(context.Context) { resume() })
		if len(testkit.Marked(t, mark)) == 0 {
			t.Fatal("their goroutines are not found")
		}
		pause()
		testkit.EventuallyEnd(t, mark)
	}
	resume()
}
