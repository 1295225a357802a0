package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// startIn starts a simulator on a data directory that ends with the test, or
// before.
func startIn(t *testing.T, cfg Config) *Simulator {
	t.Helper()
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// state is what a person would compare: every object with what it is about.
func state(t *testing.T, s *Simulator) []string {
	t.Helper()
	out, err := s.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, o := range out.Nodes {
		say("node %s %v pods %s", o.Name, o.Labels["zone"], o.Status.Allocatable.Pods())
	}
	for _, o := range out.Pods {
		say("pod %s/%s on %q", o.Namespace, o.Name, o.Spec.NodeName)
	}
	for _, o := range out.PVs {
		say("pv %s of %s %s", o.Name, o.Spec.ClaimRef.Name, o.Status.Phase)
	}
	for _, o := range out.PVCs {
		say("pvc %s/%s %s", o.Namespace, o.Name, o.Status.Phase)
	}
	for _, o := range out.Namespaces {
		say("namespace %s %s", o.Name, o.Labels["team"])
	}
	for _, o := range out.PriorityClasses {
		say("priority class %s %d", o.Name, o.Value)
	}
	for _, o := range out.StorageClasses {
		say("storage class %s", o.Name)
	}
	maps, err := s.Client().CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range maps.Items {
		if !strings.HasPrefix(o.Namespace, "kube-") && o.Name != "kube-root-ca.crt" {
			say("config map %s/%s", o.Namespace, o.Name)
		}
	}
	roles, err := s.Client().RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{LabelSelector: "!kubernetes.io/bootstrapping"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range roles.Items {
		say("cluster role %s", o.Name)
	}
	slices.Sort(all)
	return all
}

func makeConfigMap(t *testing.T, s *Simulator, namespace, name string) {
	t.Helper()
	if _, err := s.Client().CoreV1().ConfigMaps(namespace).Create(t.Context(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// makeUnavailableAPI registers an API that a pod would serve, if it ran.
func makeUnavailableAPI(t *testing.T, s *Simulator) {
	t.Helper()
	client, err := dynamic.NewForConfig(s.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	api := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1beta1.metrics.k8s.io"},
		"spec": map[string]any{
			"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "kube-system", "name": "metrics-server"},
		},
	}}
	apis := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	if _, err := apis.Create(t.Context(), api, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var last error
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		_, last = s.Client().Discovery().ServerPreferredNamespacedResources()
		return discovery.IsGroupDiscoveryFailedError(last), nil
	})
	if err != nil {
		t.Fatalf("the API is there, though no one serves it: %v: %v", err, last)
	}
}

// roomy is a file with a node that brings its room.
func roomy(names ...string) *snapshot.Snapshot {
	room := v1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("7")}
	in := &snapshot.Snapshot{}
	for _, name := range names {
		in.Nodes = append(in.Nodes, v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": "a"}},
			Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
		})
	}
	return in
}

// TestResetGoesBackToWhatADataDirectoryAndAnImportHeld changes, adds and deletes
// something of everything.
func TestResetGoesBackToWhatADataDirectoryAndAnImportHeld(t *testing.T) {
	dir := t.TempDir()
	before := startIn(t, Config{Variant: "native", DataDir: dir})
	in := load(t)
	in.SchedulerConfig, in.Pods[1].Spec.SchedulerName = nil, "absent"
	if err := before.Import(t.Context(), in, nil); err != nil {
		t.Fatal(err)
	}
	makeConfigMap(t, before, "default", "mine")
	makeConfigMap(t, before, "team", "mine")
	makeUnavailableAPI(t, before)
	if err := before.Stop(); err != nil {
		t.Fatal(err)
	}

	s := startIn(t, Config{Variant: "native", DataDir: dir})
	first := roomy("imported")
	first.SchedulerConfig = json.RawMessage(`{"profiles":[{"schedulerName":"imported"}]}`) // so that nothing waits
	if err := s.ImportFirst(t.Context(), first, nil); err != nil {
		t.Fatal(err)
	}
	start := state(t, s)
	for _, want := range []string{"node node-1", "node imported a pods 7", `pod team/bound on "node-1"`, "pv pv-1 of pvc-1 Bound", "config map team/mine", "namespace team"} {
		if !slices.ContainsFunc(start, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("at the start there is no %s in %q", want, start)
		}
	}

	for range 2 { // and once more, from what the first has made
		upset(t, s)
		if err := s.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := state(t, s)
		if !slices.Equal(now, start) {
			t.Errorf("a reset gives\n%s\nwant\n%s", strings.Join(now, "\n"), strings.Join(start, "\n"))
		}
		config := string(s.SchedulerConfig())
		if !strings.Contains(config, "imported") {
			t.Errorf("a reset gives the configuration %s", config)
		}
	}
}

func upset(t *testing.T, s *Simulator) {
	t.Helper()
	core, now := s.Client().CoreV1(), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	for what, err := range map[string]error{
		"node":      core.Nodes().Delete(t.Context(), "imported", now),
		"pod":       core.Pods("team").Delete(t.Context(), "bound", now),
		"claim":     core.PersistentVolumeClaims("team").Delete(t.Context(), "pvc-1", now),
		"importing": s.Import(t.Context(), roomy("made-later"), nil),
		"config":    s.ApplySchedulerConfig(t.Context(), []byte("profiles: [{schedulerName: later}]")),
	} {
		if err != nil {
			t.Fatal(what, ": ", err)
		}
	}
	node, err := core.Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node.Labels = map[string]string{"zone": "b"}
	if _, err := core.Nodes().Update(t.Context(), node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := core.Namespaces().Create(t.Context(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "later"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	makeConfigMap(t, s, "default", "later")
	makeConfigMap(t, s, "team", "later")
	makeConfigMap(t, s, "later", "later")
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "later"}}
	if _, err := s.Client().RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "later"}, Value: 1}
	if _, err := s.Client().SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestResetUnbindsPods that were pending at the start: they are scheduled once more.
func TestResetUnbindsPods(t *testing.T) {
	s := startIn(t, Config{Variant: "none"})
	in := roomy("node-1", "node-2")
	in.Pods = []v1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pending"},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "none"}}},
	}}
	if err := s.ImportFirst(t.Context(), in, nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		waitBound(t, s, "pending")
		attempts := s.Recorder().Attempts("default", "pending")
		if len(attempts) == 0 {
			t.Error("it runs without an attempt")
		}
		if err := s.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func waitBound(t *testing.T, s *Simulator, name string) {
	t.Helper()
	var pod *v1.Pod
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (_ bool, err error) {
		pod, err = s.Client().CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == v1.PodRunning, err
	})
	if err != nil {
		t.Fatalf("pod %s does not run: %v: %+v", name, err, pod)
	}
}

// TestResetRecreatesANamespace that was there at the start and was deleted.
func TestResetRecreatesANamespace(t *testing.T) {
	s := startIn(t, Config{Variant: "none"})
	in := &snapshot.Snapshot{Namespaces: []v1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "team", Labels: map[string]string{"team": "us"}}}}}
	if err := s.ImportFirst(t.Context(), in, nil); err != nil {
		t.Fatal(err)
	}
	start := state(t, s)
	if err := s.Client().CoreV1().Namespaces().Delete(t.Context(), "team", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := s.Client().CoreV1().Namespaces().Get(ctx, "team", metav1.GetOptions{})
		return err != nil, nil
	})
	if err != nil {
		t.Fatal("the namespace stays: ", err)
	}
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := state(t, s)
	if !slices.Equal(now, start) || len(now) != 1 {
		t.Errorf("a reset gives %q, want %q", now, start)
	}
}
