package player

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/goroutines"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/testlog"
	"wasmkwokwizardry.io/regex-scheduling/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/simulator/stages"
)

var (
	admin  *rest.Config
	client kubernetes.Interface
	things dynamic.Interface
)

func TestMain(m *testing.M) { os.Exit(withCluster(m.Run)) }

// withCluster gives all tests one control plane.
func withCluster(tests func() int) int {
	cluster, err := controlplane.Start(context.Background(), controlplane.Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer cluster.Stop()
	admin = cluster.AdminConfig()
	if client, err = kubernetes.NewForConfig(admin); err == nil {
		things, err = dynamic.NewForConfig(admin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return tests()
}

// stage is a stage of a kind for objects with the label stage: <name>, of which the
// rest of the spec is given.
func stage(name, version, kind, rest string) string {
	return fmt.Sprintf("---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: %s}\nspec:\n  resourceRef: {apiGroup: %s, kind: %s}\n"+
		"  selector: {matchLabels: {stage: %s}}\n%s\n", name, version, kind, name, rest)
}

func read(t *testing.T, texts ...string) *stages.Set {
	t.Helper()
	set, err := stages.Read(stages.Source{Name: "stages.yaml", Text: []byte(strings.Join(texts, ""))})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// play plays stages until the test ends, and returns what is warned of.
func play(t *testing.T, texts ...string) *testlog.Log {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	warned := &testlog.Log{}
	if err := Start(ctx, admin, read(t, texts...), log.New(warned, "", 0)); err != nil {
		t.Fatal(err)
	}
	return warned
}

// made makes a config map that a stage is for.
func made(t *testing.T, name, forStage string, change func(*v1.ConfigMap)) {
	t.Helper()
	object := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"stage": forStage}}}
	change(object)
	maps := client.CoreV1().ConfigMaps("default")
	if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := maps.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

func nothing(*v1.ConfigMap) {}

// becomes waits until a config map is as a condition wants it.
func becomes(t *testing.T, name string, condition func(*v1.ConfigMap) bool) {
	t.Helper()
	eventually.Succeeds(t, "config map "+name+" changes", func(ctx context.Context) error {
		object, err := client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
		if err == nil && !condition(object) {
			err = fmt.Errorf("it is %+v", object)
		}
		return err
	})
}

func has(key, value string) func(*v1.ConfigMap) bool {
	return func(object *v1.ConfigMap) bool { return object.Data[key] == value }
}

func says(t *testing.T, warned *testlog.Log, parts ...string) {
	t.Helper()
	eventually.Succeeds(t, "it is said", func(context.Context) error {
		for _, part := range parts {
			if !strings.Contains(warned.String(), part) {
				return fmt.Errorf("no %q in %s", part, warned)
			}
		}
		return nil
	})
}

func TestObjectsOfAnyKindArePatched(t *testing.T) {
	warned := play(t,
		stage("merge", "v1", "ConfigMap", "  steps: [{patch: {template: 'data: {is: {{ .metadata.name }}}'}}]"),
		stage("strategic", "v1", "ConfigMap", "  steps: [{patch: {type: strategic, root: data, template: 'is: strategic'}}]"),
		stage("json", "v1", "ConfigMap", `  steps: [{patch: {type: json, template: '[{op: add, path: /data/is, value: json}]'}}]`),
		stage("rooted", "v1", "ConfigMap", `  steps: [{patch: {type: json, root: data, template: '[{op: add, path: /is, value: rooted}]'}}]`),
		stage("twice", "v1", "ConfigMap", "  steps: [{patch: {template: 'data: {first: done}'}}, {patch: {template: 'data: {is: twice, first: null}'}}]"),
	)
	for _, name := range []string{"merge", "strategic", "json", "rooted", "twice"} {
		made(t, name, name, func(m *v1.ConfigMap) { m.Data = map[string]string{"was": "there"} })
		becomes(t, name, func(m *v1.ConfigMap) bool {
			return m.Data["is"] == name && m.Data["was"] == "there" && m.Data["first"] == ""
		})
	}
	if text := warned.Take(); text != "" {
		t.Errorf("it warned of %s", text)
	}
}

func TestWhatWouldChangeNothingIsNotSent(t *testing.T) {
	play(t, stage("same", "v1", "ConfigMap", "  steps: [{patch: {template: 'data: {is: done}'}}, {event: {type: Normal, reason: Same, message: m}}]"))
	made(t, "same", "same", func(m *v1.ConfigMap) { m.Data = map[string]string{"is": "done"} })
	before, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "same", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventOf(t, "Same", "same")
	after, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "same", metav1.GetOptions{})
	if err != nil || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("version %s after %s, %v", after.ResourceVersion, before.ResourceVersion, err)
	}
}

// eventOf waits for the event of a reason, of which there may be one, and takes it
// away.
func eventOf(t *testing.T, reason, about string) {
	t.Helper()
	events, those := client.CoreV1().Events("default"), metav1.ListOptions{FieldSelector: "reason=" + reason}
	eventually.Succeeds(t, "there is an event", func(ctx context.Context) error {
		list, err := events.List(ctx, those)
		if err == nil && (len(list.Items) != 1 || list.Items[0].InvolvedObject.Name != about || list.Items[0].Count > 1) {
			err = fmt.Errorf("events %+v", list.Items)
		}
		return err
	})
	if err := events.DeleteCollection(t.Context(), metav1.DeleteOptions{}, those); err != nil {
		t.Error(err)
	}
}

func TestFinalizersKeepAnObjectUntilAStageTakesThemAway(t *testing.T) {
	play(t,
		stage("keep", "v1", "ConfigMap", "  steps: [{finalizers: {add: [{value: example.com/a}, {value: example.com/b}]}}, {patch: {template: 'data: {is: kept}'}}]"),
		stage("free", "v1", "ConfigMap", "  steps: [{finalizers: {remove: [{value: example.com/a}]}}, {finalizers: {empty: true}}]"))
	made(t, "kept", "keep", nothing)
	becomes(t, "kept", func(m *v1.ConfigMap) bool { return len(m.Finalizers) == 2 && m.Data["is"] == "kept" })
	maps := client.CoreV1().ConfigMaps("default")
	if err := maps.Delete(t.Context(), "kept", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	becomes(t, "kept", func(m *v1.ConfigMap) bool { return m.DeletionTimestamp != nil })
	if _, err := maps.Patch(t.Context(), "kept", types.MergePatchType, []byte(`{"metadata":{"labels":{"stage":"free"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "kept")
}

func gone(t *testing.T, name string) {
	t.Helper()
	eventually.Succeeds(t, "config map "+name+" is gone", func(ctx context.Context) error {
		object, err := client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %+v, %w", object, err)
	})
}

func TestAStageDeletes(t *testing.T) {
	play(t, stage("goes", "v1", "ConfigMap", "  steps: [{delete: true}, {event: {type: Warning, reason: Gone, message: m}}]"))
	made(t, "goes", "goes", nothing)
	gone(t, "goes")
	eventOf(t, "Gone", "goes")
}

func TestOtherObjectsAreApplied(t *testing.T) {
	apply := func(more string) string {
		return "  steps: [{apply: {" + more + "template: '{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, data: {by: {{ .metadata.name }}}}'}}]"
	}
	warned := play(t, stage("apply", "v1", "ConfigMap", apply("")), stage("merge", "v1", "ConfigMap", apply("type: merge, ")),
		stage("status", "v1", "ConfigMap", "  steps: [{apply: {type: merge, subresource: status, template: '{apiVersion: v1, kind: Namespace, metadata: {name: none}}'}}]"),
		stage("unknown", "v1", "ConfigMap", "  steps: [{apply: {template: '{apiVersion: example.org/v1, kind: None, metadata: {name: none}}'}}]"),
		stage("anonymous", "v1", "ConfigMap", "  steps: [{apply: {template: 'metadata: {name: none}'}}]"))
	t.Cleanup(func() {
		if err := client.CoreV1().ConfigMaps("default").Delete(context.Background(), "applied", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	made(t, "one", "apply", nothing)
	becomes(t, "applied", has("by", "one"))
	made(t, "two", "apply", nothing)
	becomes(t, "applied", has("by", "two"))
	made(t, "three", "merge", nothing)
	becomes(t, "applied", has("by", "three"))
	for _, name := range []string{"status", "unknown", "anonymous"} {
		made(t, name, name, nothing)
	}
	says(t, warned,
		`ConfigMap default/status: stage status: step 1: apply: Namespace none: namespaces "none" not found; trying again in 1s`,
		`ConfigMap default/unknown: stage unknown: step 1: apply: no matches for kind "None" in version "example.org/v1"; trying again in 1s`,
		"ConfigMap default/anonymous: stage anonymous: step 1: apply: the template must write apiVersion and kind; trying again in 1s")
}

func TestAStepIsDoneInTheNameOfSomebodyElse(t *testing.T) {
	warned := play(t, stage("nobody", "v1", "ConfigMap", "  steps: [{event: {type: Normal, reason: Once, message: m}}, {patch: {template: 'data: {is: done}', impersonation: {username: nobody}}}]"))
	made(t, "theirs", "nobody", nothing)
	says(t, warned, "ConfigMap default/theirs: stage nobody: step 2: patch: ", `User "nobody" cannot patch resource "configmaps"`, "trying again in 2s")
	eventOf(t, "Once", "theirs") // though step 2 was done twice
}

// With a selector that fails nobody knows what the object should do, whatever the
// other stages say.
func TestAnExpressionThatFailsIsSaidOnce(t *testing.T) {
	fails := strings.Replace(stage("fails", "v1", "ConfigMap", ""), "matchLabels: {stage: fails}", "matchExpressions: [{cel: {expression: 'self.data.is == \"\"'}}]", 1)
	warned := play(t, fails, stage("fine", "v1", "ConfigMap", "  steps: [{patch: {template: 'data: {was: fine}'}}]"))
	made(t, "fine", "fine", nothing)
	const said = "ConfigMap default/fine: stage fails: selector: cel: no such key: data; it stays as it is until it changes\n"
	says(t, warned, said)
	patch := []byte(`{"data":{"is":"here"}}`)
	if _, err := client.CoreV1().ConfigMaps("default").Patch(t.Context(), "fine", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	becomes(t, "fine", has("was", "fine"))
	if n := strings.Count(warned.String(), said); n != 1 {
		t.Errorf("said %d times: %s", n, warned)
	}
}

func TestKindsThatAreNotServed(t *testing.T) {
	for _, c := range [][3]string{
		{"v1", "Pot", `stages.yaml:2: stage tried: spec.resourceRef: the API server serves no Pot (v1): do you mean Pod?`},
		{"v1", "Job", `stages.yaml:2: stage tried: spec.resourceRef: the API server serves no Job (v1): do you mean apiGroup: batch/v1?`},
		{"batch", "Job", `stages.yaml:2: stage tried: spec.resourceRef: the API server serves no Job (batch): do you mean apiGroup: batch/v1?`},
		{"networking.k8s.io/v1", "Nothing", `stages.yaml:2: stage tried: spec.resourceRef: the API server serves no Nothing (networking.k8s.io/v1)`},
	} {
		err := Start(t.Context(), admin, read(t, stage("tried", c[0], c[1], "  steps: [{delete: true}]")), log.Default())
		if err == nil || err.Error() != c[2] {
			t.Errorf("got  %v\nwant %s", err, c[2])
		}
	}
}

func TestStagesOfCustomResourcesBeginWhenThereAreSome(t *testing.T) {
	warned := play(t, stage("grow", "example.com/v1", "Plant", "  steps: [{patch: {root: spec, template: 'height: {{ add .spec.height 1 }}'}}, {patch: {root: metadata, template: 'labels: {stage: grown}'}}]"))
	says(t, warned, "the API server serves no Plant (example.com/v1): its stages begin once it does\n")
	definitions := things.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "plants.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"kind": "Plant", "plural": "plants"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	if _, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := definitions.Delete(context.Background(), "plants.example.com", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	plants := things.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "plants"}).Namespace("default")
	plant := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Plant", "spec": map[string]any{"height": int64(1)},
		"metadata": map[string]any{"name": "fern", "labels": map[string]any{"stage": "grow"}},
	}}
	eventually.Succeeds(t, "there are plants", func(ctx context.Context) error {
		_, err := plants.Create(ctx, plant, metav1.CreateOptions{})
		return err
	})
	eventually.Succeeds(t, "it grows once", func(ctx context.Context) error {
		fern, err := plants.Get(ctx, "fern", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if height, _, _ := unstructured.NestedInt64(fern.Object, "spec", "height"); height != 2 || fern.GetLabels()["stage"] != "grown" {
			return fmt.Errorf("it is %v", fern.Object)
		}
		return nil
	})
}

func TestNothingIsLeftBehind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	goroutines.Mark(ctx, t.Name(), func(ctx context.Context) {
		set := read(t, stage("a", "v1", "ConfigMap", "  steps: [{delete: true}]"), stage("b", "example.net/v1", "Later", "  steps: [{delete: true}]"))
		if err := Start(ctx, admin, set, log.New(&testlog.Log{}, "", 0)); err != nil {
			t.Fatal(err)
		}
	})
	if len(goroutines.Marked(t, t.Name())) == 0 {
		t.Fatal("its goroutines are not found")
	}
	cancel()
	eventually.Succeeds(t, "all of it ends", func(context.Context) error {
		if left := goroutines.Marked(t, t.Name()); len(left) > 0 {
			return errors.New(strings.Join(left, "\n"))
		}
		return nil
	})
}
