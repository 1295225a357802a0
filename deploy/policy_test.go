package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// kinds are what has a pod in it, and where.
var kinds = []struct {
	kind, resource, apiVersion string
	pod                        []string // the path of what has metadata and spec
	spec                       map[string]any
}{
	{"Pod", "pods", "v1", nil, nil},
	{"PodTemplate", "podtemplates", "v1", []string{"template"}, nil},
	{"ReplicationController", "replicationcontrollers", "v1", []string{"spec", "template"}, map[string]any{"replicas": int64(0)}},
	{"DaemonSet", "daemonsets", "apps/v1", []string{"spec", "template"}, map[string]any{"selector": selector}},
	{"Deployment", "deployments", "apps/v1", []string{"spec", "template"}, selecting},
	{"ReplicaSet", "replicasets", "apps/v1", []string{"spec", "template"}, selecting},
	{"StatefulSet", "statefulsets", "apps/v1", []string{"spec", "template"}, selecting},
	{"Job", "jobs", "batch/v1", []string{"spec", "template"}, map[string]any{"suspend": true}},
	{"CronJob", "cronjobs", "batch/v1", []string{"spec", "jobTemplate", "spec", "template"}, map[string]any{"schedule": "@daily"}},
}

var (
	selector  = map[string]any{"matchLabels": map[string]any{"a": "b"}}
	selecting = map[string]any{"replicas": int64(0), "selector": selector}
)

// key is the annotation that is tried.
var key = regex.Annotation

// annotated makes an object of a kind, whose pod has the annotation, or none if
// pattern is nil.
func annotated(index int, name string, pattern *string) *unstructured.Unstructured {
	k := kinds[index]
	metadata := map[string]any{"labels": map[string]any{"a": "b"}}
	if pattern != nil {
		metadata["annotations"] = map[string]any{key: *pattern}
	}
	spec := map[string]any{
		"schedulerName": "absent", "containers": []any{map[string]any{"name": "c", "image": "registry.example/none"}},
	}
	if strings.HasPrefix(k.apiVersion, "batch/") {
		spec["restartPolicy"] = "Never"
	}
	content := map[string]any{}
	if k.spec != nil {
		content["spec"] = (&unstructured.Unstructured{Object: k.spec}).DeepCopy().Object
	}
	if k.pod == nil {
		metadata["labels"] = map[string]any{"a": "alone"} // or a controller would take it for its own
		content["metadata"], content["spec"] = metadata, spec
	} else {
		_ = unstructured.SetNestedMap(content, map[string]any{"metadata": metadata, "spec": spec}, k.pod...)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(k.apiVersion)
	object.SetKind(k.kind)
	object.SetName(name)
	return object
}

func resourceAt(c dynamic.Interface, index int) dynamic.ResourceInterface {
	group, _ := schema.ParseGroupVersion(kinds[index].apiVersion)
	return c.Resource(group.WithResource(kinds[index].resource)).Namespace("default")
}

var dry = []string{metav1.DryRunAll}

// create tries to create an object, with that pattern.
func create(ctx context.Context, c dynamic.Interface, index int, pattern *string) error {
	_, err := resourceAt(c, index).Create(ctx, annotated(index, "new", pattern), metav1.CreateOptions{DryRun: dry})
	return err
}

// update tries to give an object that is there that pattern. Its controller may
// change it at the same time.
func update(ctx context.Context, index int, name string, pattern *string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		there, err := resourceAt(objects, index).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		next := annotated(index, name, pattern)
		path := append(append([]string{}, kinds[index].pod...), "metadata", "annotations")
		annotations, _, _ := unstructured.NestedMap(next.Object, path...)
		_ = unstructured.SetNestedMap(there.Object, annotations, path...)
		_, err = resourceAt(objects, index).Update(ctx, there, metav1.UpdateOptions{DryRun: dry})
		return err
	})
}

// keep creates an object of each kind that can be changed.
func keep(t *testing.T, name, pattern string) {
	t.Helper()
	for i, k := range kinds {
		testkit.Eventually(t, "create it, once the policy of another test is gone", func(ctx context.Context) error {
			_, err := resourceAt(objects, i).Create(ctx, annotated(i, name, &pattern), metav1.CreateOptions{})
			return err
		})
		if k.kind == "Job" { // its template can be changed while it is suspended
			status := annotated(i, name, &pattern)
			_ = unstructured.SetNestedSlice(status.Object, []any{map[string]any{"type": "Suspended", "status": "True"}}, "status", "conditions")
			_, err := resourceAt(objects, i).ApplyStatus(t.Context(), name, status, metav1.ApplyOptions{FieldManager: "test", Force: true})
			testkit.Must(t, err)
		}
		t.Cleanup(func() {
			now, orphan := int64(0), metav1.DeletePropagationOrphan
			testkit.Must(t, resourceAt(objects, i).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &orphan}))
		})
	}
}

// applyPolicy applies a folder of deploy/policy until the test ends.
func applyPolicy(t *testing.T, variant string) {
	t.Helper()
	for _, object := range mustRender(t, "policy/"+variant) {
		testkit.Must(t, apply(t.Context(), object))
		t.Cleanup(func() {
			resource, err := resourceOf(object.GroupVersionKind())
			testkit.Must(t, err)
			testkit.Must(t, resource.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{}))
		})
	}
}

// enforce applies a variant of the policy, and waits until effect accepts the result of
// creating a pod with a bad pattern.
func enforce(t *testing.T, variant string, c dynamic.Interface, effect func(error) bool) {
	t.Helper()
	applyPolicy(t, variant)
	testkit.Eventually(t, "the policy works", func(ctx context.Context) error {
		if err := create(ctx, c, 0, &bad); !effect(err) {
			return fmt.Errorf("not yet: %v", err)
		}
		return nil
	})
}

var bad, worse = "(", "(("

// judged are patterns, and the API server's message for each that it refuses.
// Nil stands for no annotation.
func judged(t *testing.T) map[*string]string {
	t.Helper()
	const asTheScheduler = "its own words"
	judged := map[*string]string{nil: ""}
	for pattern, want := range map[string]string{
		"kubecon-.*": "", "": "", "(?i)a": "", "é": "", `\x{e9}`: "",
		"kubecon-(.*":              "error parsing regexp: missing closing ): `kubecon-(.*`",
		`kubecon-.*\`:              "error parsing regexp: trailing backslash at end of expression: ``",
		"(?!gpu)":                  "error parsing regexp: invalid or unsupported Perl syntax: `(?!`",
		strings.Repeat("a?", 500):  "",
		strings.Repeat("a?", 501):  asTheScheduler,
		strings.Repeat("(a)", 100): "",
		strings.Repeat("(a)", 101): asTheScheduler,
		strings.Repeat(`\pL`, 8):   "",
		strings.Repeat(`\pL`, 9):   asTheScheduler,
		strings.Repeat("a", 2049):  asTheScheduler,
		strings.Repeat("é", 1025):  asTheScheduler,
		"(?s-mi:é)":                asTheScheduler,
		`a(?i)\x{e9}`:              asTheScheduler,
		// What the scheduler alone refuses.
		strings.Repeat("a", 2048): "", "(abcd){600}": "",
	} {
		if want == asTheScheduler {
			_, err := regex.Default.Compile(map[string]string{key: pattern})
			var refusal *regex.PatternError
			if !errors.As(err, &refusal) {
				t.Fatalf("the scheduler takes %.20q", pattern)
			}
			want = "annotation " + key + ": " + refusal.Problem
		}
		judged[&pattern] = want
	}
	return judged
}

// patternsOf are all patterns for pods, and a good and a bad one for the other kinds.
func patternsOf(t *testing.T, kind int) map[*string]string {
	t.Helper()
	good := "kubecon-.*"
	if kinds[kind].pod == nil {
		return judged(t)
	}
	return map[*string]string{nil: "", &good: "", &bad: "missing closing )"}
}

func TestTheAPIServerRefusesBadPatterns(t *testing.T) {
	keep(t, "there", "kubecon-.*")
	keep(t, "before", bad) // the policy
	addPod(t, podFor("status", "kubecon-.*"))
	enforce(t, "base", objects, func(err error) bool { return err != nil })
	t.Cleanup(func() { key = regex.Annotation })
	for _, key = range regex.Default.Keys() {
		for i, k := range kinds {
			for what, try := range map[string]func(pattern *string) error{
				"create": func(pattern *string) error { return create(t.Context(), objects, i, pattern) },
				"update": func(pattern *string) error { return update(t.Context(), i, "there", pattern) },
			} {
				for pattern, want := range patternsOf(t, i) {
					err := try(pattern)
					if (want == "") != (err == nil) || err != nil && !(strings.Contains(err.Error(), want) && namesItsAnnotation(err)) {
						t.Errorf("%s %s with %s, %s: got %v, want %q", what, k.kind, key, shown(pattern), err, want)
					}
				}
			}
		}
	}
	key = regex.Annotation
	for i, k := range kinds {
		testkit.Equal(t, update(t.Context(), i, "before", &bad), nil, "%s as it was", k.kind)
		err := update(t.Context(), i, "before", &worse)
		testkit.ErrorHas(t, err, "missing closing )")
	}
	// Who may change the status of a pod could change its annotations with it.
	for pattern, refused := range map[string]bool{bad: true, "cncf-.*": false} {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, pattern)
		_, err := client.CoreV1().Pods("default").Patch(t.Context(), "status", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "missing closing )") {
			t.Errorf("pattern %q by the status: %v", pattern, err)
		}
	}
}

// namesItsAnnotation is false for a text that has a name of the policy's own in its place, or more of an expression before the
// parser's message than that needs.
func namesItsAnnotation(err error) bool {
	return strings.Contains(err.Error(), "annotation "+key) && !strings.Contains(err.Error(), "patterns[") && !strings.Contains(err.Error(), "size(")
}

func shown(pattern *string) string {
	if pattern == nil {
		return "no annotation"
	}
	return fmt.Sprintf("%.20q", *pattern)
}

func TestTheAPIServerWarnsOfBadPatterns(t *testing.T) {
	var reported warnings
	config := rest.CopyConfig(admin)
	config.WarningHandler = &reported
	c, err := dynamic.NewForConfig(config)
	testkit.Must(t, err)
	enforce(t, "warn", c, func(err error) bool { return err == nil && reported.take() != "" })
	for i, k := range kinds {
		for pattern, want := range patternsOf(t, i) {
			err := create(t.Context(), c, i, pattern)
			got := reported.take()
			if err != nil || (want == "") != (got == "") || !strings.Contains(got, want) {
				t.Errorf("%s, %s: got %v and the warning %q, want %q", k.kind, shown(pattern), err, got, want)
			}
		}
	}
}

// warnings are what the API server says beside its answers.
type warnings struct {
	mu   sync.Mutex
	said string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said += text
}

func (w *warnings) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.said
	w.said = ""
	return said
}
