package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/goroutines"
)

// deploymentOf is one of pods that nobody schedules here.
func deploymentOf(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podOn("", "").Spec},
		},
	}
}

// podsOf waits until a deployment has so many pods, and returns them.
func podsOf(t *testing.T, client kubernetes.Interface, name string, want int) []corev1.Pod {
	t.Helper()
	var pods *corev1.PodList
	eventually.Succeeds(t, "pods of "+name, func(ctx context.Context) (err error) {
		if pods, err = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=" + name}); err != nil {
			return err
		}
		if len(pods.Items) != want {
			return fmt.Errorf("%d pods, want %d", len(pods.Items), want)
		}
		return nil
	})
	return pods.Items
}

func TestADeploymentHasAsManyPodsAsItAsksForAndTakesThemAlong(t *testing.T) {
	client := clientOf(t, sharedCluster.AdminConfig())
	deployments := client.AppsV1().Deployments("default")
	if _, err := deployments.Create(t.Context(), deploymentOf("scaled", 2), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, pod := range podsOf(t, client, "scaled", 2) {
		if owner := metav1.GetControllerOf(&pod); owner == nil || owner.Kind != "ReplicaSet" {
			t.Errorf("pod %s is of %v", pod.Name, owner)
		}
	}
	eventually.Succeeds(t, "it is scaled, while its controller writes its status", func(ctx context.Context) error {
		scale, err := deployments.GetScale(ctx, "scaled", metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = 5
		_, err = deployments.UpdateScale(ctx, "scaled", scale, metav1.UpdateOptions{})
		return err
	})
	podsOf(t, client, "scaled", 5)
	if err := deployments.Delete(t.Context(), "scaled", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	podsOf(t, client, "scaled", 0)
}

// TestEachControllerHasItsOwnIdentity asks what each may do: its role comes with
// the API server, so a name that is not one of upstream's may do nothing.
func TestEachControllerHasItsOwnIdentity(t *testing.T) {
	for account, may := range map[string]string{
		"deployment-controller": "replicasets", "replicaset-controller": "pods", "statefulset-controller": "pods",
		"daemon-set-controller": "pods", "job-controller": "pods", "cronjob-controller": "jobs",
		"persistent-volume-binder": "persistentvolumes", "ephemeral-volume-controller": "persistentvolumeclaims",
		"resource-claim-controller": "resourceclaims",
		"replication-controller":    "pods", "disruption-controller": "events",
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
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

func TestPausedControllersDoNotActOnHalfOfAReplicaSet(t *testing.T) {
	client := clientOf(t, sharedCluster.AdminConfig())
	if err := sharedCluster.Pause(); err != nil {
		t.Fatal(err)
	}
	owner, err := client.AppsV1().ReplicaSets("default").Create(t.Context(), replicaSet("held", 2), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mine := map[string]bool{}
	for _, name := range []string{"held-1", "held-2"} {
		pod := podOn("", name)
		pod.Labels = map[string]string{"app": "held"}
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		made, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		mine[string(made.UID)] = true
	}
	if status := replicaSetStatus(t, client, "held"); status.ObservedGeneration != 0 {
		t.Errorf("a controller has seen the replica set: %+v", status)
	}
	if err := sharedCluster.Resume(); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "the controller counts the pods", func(context.Context) error {
		if status := replicaSetStatus(t, client, "held"); status.Replicas != 2 {
			return fmt.Errorf("status %+v", status)
		}
		return nil
	})
	for _, pod := range podsOf(t, client, "held", 2) {
		if !mine[string(pod.UID)] {
			t.Errorf("the controller has made pod %s", pod.Name)
		}
	}
	if err := client.AppsV1().ReplicaSets("default").Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	podsOf(t, client, "held", 0)
}

func replicaSet(name string, replicas int32) *appsv1.ReplicaSet {
	d := deploymentOf(name, replicas)
	return &appsv1.ReplicaSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: d.Spec.Selector, Template: d.Spec.Template}}
}

func replicaSetStatus(t *testing.T, client kubernetes.Interface, name string) appsv1.ReplicaSetStatus {
	t.Helper()
	set, err := client.AppsV1().ReplicaSets("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return set.Status
}

func TestPausedControllersLeaveNothing(t *testing.T) {
	pause := func() {
		if err := sharedCluster.Pause(); err != nil {
			t.Fatal(err)
		}
	}
	resume := func() {
		if err := sharedCluster.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	pause()
	for i := range 3 {
		mark := fmt.Sprintf("%s-%d", t.Name(), i)
		goroutines.Mark(t.Context(), mark, func(context.Context) { resume() })
		if len(goroutines.Marked(t, mark)) == 0 {
			t.Fatal("their goroutines are not found")
		}
		pause()
		eventually.Succeeds(t, "all of them end", func(context.Context) error {
			left := slices.DeleteFunc(goroutines.Marked(t, mark), func(stack string) bool {
				return strings.Contains(stack, "net/http") // connections are kept
			})
			if len(left) > 0 {
				return fmt.Errorf("left behind:\n%s", strings.Join(left, "\n"))
			}
			return nil
		})
	}
	resume()
}
