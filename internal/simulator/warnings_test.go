package simulator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/observe"
)

// console is where the simulator of all tests warns.
var console observe.Log

// listen forgets what was said and how often, so that the next warning is there.
func listen() {
	sim.warnings.mu.Lock()
	defer sim.warnings.mu.Unlock()
	sim.warnings.since, sim.warnings.written = time.Time{}, 0
	console.Take()
}

func TestWarningsAreFew(t *testing.T) {
	var out observe.Log
	now := time.Unix(1000, 0)
	w := &warnings{to: &out, now: func() time.Time { return now }}
	for range 1000 {
		w.say("node\n%s", "n")
	}
	want := strings.Repeat("warning: node n\n", 5) + "warning: more warnings are omitted for up to 1m0s\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
	now = now.Add(time.Minute)
	w.say("again")
	want += "warning: 995 more warnings were omitted\nwarning: again\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
	(&warnings{now: time.Now}).say("to no one")
}

// TestWarningsOfTheKubeletsArePrinted forbids what they do to a node.
func TestWarningsOfTheKubeletsArePrinted(t *testing.T) {
	t.Cleanup(reset(t))
	forbid(t, "forbidden")
	listen()
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "forbidden"}}
	if _, err := sim.Client().CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		for line := range strings.Lines(console.String()) {
			if strings.HasPrefix(line, "warning: fake kubelets: ") && strings.Contains(line, "no status for you") && strings.Contains(line, "node forbidden") {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Errorf("nothing is said of it: %q", &console)
	}
}

// TestResetIsNoReasonForWarnings: the kubelets look at pods that are about to go.
func TestResetIsNoReasonForWarnings(t *testing.T) {
	t.Cleanup(reset(t))
	in := func() *snapshot.Snapshot {
		in := roomy("node-1")
		in.Nodes[0].Status.Allocatable[v1.ResourcePods] = resource.MustParse("110")
		for i := range 100 {
			in.Pods = append(in.Pods, v1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p-", i), Namespace: "default"},
				Spec:       v1.PodSpec{NodeName: "node-1", Containers: []v1.Container{{Name: "c", Image: "c"}}},
			})
		}
		return in
	}
	listen()
	for range 3 { // what is said of one round, has been said when the next one's pods run
		if err := sim.Import(t.Context(), in(), nil); err != nil {
			t.Fatal(err)
		}
		eventually(t, "all pods run", func() bool {
			pods, _ := sim.Informers().Core().V1().Pods().Lister().List(labels.Everything())
			return len(pods) == 100 && !slices.ContainsFunc(pods, func(p *v1.Pod) bool { return p.Status.Phase != v1.PodRunning })
		})
		if err := sim.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	said := console.String()
	if said != "" {
		t.Errorf("it warns:\n%s", said)
	}
}

// forbid makes the API server refuse every status of a node, and returns once it
// does.
func forbid(t *testing.T, name string) {
	t.Helper()
	policies, bindings := sim.Client().AdmissionregistrationV1().ValidatingAdmissionPolicies(), sim.Client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	meta := metav1.ObjectMeta{Name: "no-status"}
	_, err := policies.Create(t.Context(), &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"nodes", "nodes/status"}},
		}}}},
		Validations: []admissionv1.Validation{{
			Expression: `object.metadata.name != "probe" && (object.metadata.name != "` + name + `" || request.?subResource.orValue("") != "status")`,
			Message:    "no status for you",
		}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = policies.Delete(context.Background(), meta.Name, metav1.DeleteOptions{}) })
	_, err = bindings.Create(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: meta.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bindings.Delete(context.Background(), meta.Name, metav1.DeleteOptions{}) })
	probe := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}
	var last error
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, last = sim.Client().CoreV1().Nodes().Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(last) || apierrors.IsForbidden(last), nil
	})
	if err != nil {
		t.Fatalf("the policy does not come into force: %v", last)
	}
}
