package deploy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

const defaultAnnotation = "scheduler.wasmkwokwizardry.io/default-regex"

// hasMutatingPolicies is whether this minor of Kubernetes has them without a feature gate.
func hasMutatingPolicies() bool {
	_, err := resourceOf(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingAdmissionPolicy"})
	return !meta.IsNoMatchError(err)
}

func needMutatingPolicies(t *testing.T) {
	t.Helper()
	if !hasMutatingPolicies() {
		t.Skip("this minor of Kubernetes has no MutatingAdmissionPolicy by default")
	}
}

func TestNamespaceHasADefault(t *testing.T) {
	needMutatingPolicies(t)
	applyPolicy(t, "default")
	addNamespace(t, "with-default", "kubecon-.*")
	addNamespace(t, "without-default", "")
	testkit.Eventually(t, "the policy works", func(ctx context.Context) error {
		got, err := admitted(ctx, "with-default", nil, nil)
		if err != nil || got[regex.Annotation] != "kubecon-.*" {
			return fmt.Errorf("the pod has %v: %w", got, err)
		}
		return nil
	})
	for what, tt := range map[string]struct {
		namespace string
		own, want map[string]string
		change    func(*corev1.Pod)
	}{
		"another annotation":     {"with-default", map[string]string{"a": "b"}, map[string]string{"a": "b", regex.Annotation: "kubecon-.*"}, nil},
		"a regex of its own":     {"with-default", map[string]string{regex.Annotation: "own"}, map[string]string{regex.Annotation: "own"}, nil},
		"the empty regex":        {"with-default", map[string]string{regex.Annotation: ""}, map[string]string{regex.Annotation: ""}, nil},
		"an exclude of its own":  {"with-default", map[string]string{regex.ExcludeAnnotation: "own"}, map[string]string{regex.ExcludeAnnotation: "own"}, nil},
		"no default":             {"without-default", nil, nil, nil},
		"the pod of a DaemonSet": {"with-default", nil, nil, ownedByDaemonSet},
	} {
		got, err := admitted(t.Context(), tt.namespace, tt.own, tt.change)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: the pod has %v, want %v; error %v", what, got, tt.want, err)
		}
	}
}

// A bad default is refused where it is set. One that was there before can only be removed.
func TestBadDefaultIsRefused(t *testing.T) {
	needMutatingPolicies(t)
	addNamespace(t, "bad-before", bad)
	applyPolicy(t, "default")
	testkit.Eventually(t, "the policy works", func(ctx context.Context) error {
		err := createNamespace(ctx, "new", bad)
		if err == nil {
			return fmt.Errorf("the pattern %q is taken", bad)
		}
		return nil
	})
	key = defaultAnnotation
	t.Cleanup(func() { key = regex.Annotation })
	for pattern, want := range map[string]string{
		"kubecon-.*": "", "": "", `\x{e9}`: "",
		"kubecon-(.*":             "error parsing regexp: missing closing ): `kubecon-(.*`",
		strings.Repeat("a?", 501): "annotation " + key + ": the pattern has too many operators: at most 500",
		"(?i)é":                   "annotation " + key + ": the pattern must not mix (?i)",
	} {
		err := createNamespace(t.Context(), "new", pattern)
		if (want == "") != (err == nil) || err != nil && !(strings.Contains(err.Error(), want) && namesItsAnnotation(err)) {
			t.Errorf("%.20q: got %v, want %q", pattern, err, want)
		}
	}
	for patch, refused := range map[string]bool{`{"labels":{"a":"b"}}`: false, `{"annotations":{"` + key + `":null}}`: false, `{"annotations":{"` + key + `":"(("}}`: true} {
		_, err := client.CoreV1().Namespaces().Patch(t.Context(), "bad-before", "application/merge-patch+json",
			[]byte(`{"metadata":`+patch+`}`), metav1.PatchOptions{DryRun: dry})
		if (err != nil) != refused {
			t.Errorf("%s: %v", patch, err)
		}
	}
}

func namespaceWith(name, pattern string) *corev1.Namespace {
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if pattern != "" {
		space.Annotations = map[string]string{defaultAnnotation: pattern}
	}
	return space
}

func addNamespace(t *testing.T, name, pattern string) {
	t.Helper()
	testkit.Eventually(t, "create it, once the policy of another test is gone", func(ctx context.Context) error {
		_, err := client.CoreV1().Namespaces().Create(ctx, namespaceWith(name, pattern), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	t.Cleanup(func() { _ = client.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

// createNamespace tries to create a namespace with a default.
func createNamespace(ctx context.Context, name, pattern string) error {
	_, err := client.CoreV1().Namespaces().Create(ctx, namespaceWith(name, pattern), metav1.CreateOptions{DryRun: dry})
	return err
}

func ownedByDaemonSet(pod *corev1.Pod) {
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d"}}
}

// admitted are the annotations that a new pod gets.
func admitted(ctx context.Context, namespace string, own map[string]string, change func(*corev1.Pod)) (map[string]string, error) {
	pod := podFor("new", "")
	pod.Namespace, pod.Annotations = namespace, own
	if change != nil {
		change(pod)
	}
	got, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: dry})
	if err != nil {
		return nil, err
	}
	return got.Annotations, nil
}
