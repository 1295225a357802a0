package simulator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// startIn starts a simulator on a data directory that ends with the test, or before.
func startIn(t *testing.T, cfg Config) *Simulator {
	t.Helper()
	s, err := Start(t.Context(), cfg)
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, s.Stop()) })
	return s
}

// state is what a person would compare: every object of every kind, with what it is about. What the control plane
// writes by itself is not in it.
func state(t *testing.T, s *Simulator) (all []string) {
	t.Helper()
	lists, err := s.Client().Discovery().ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // an API is there that no pod serves
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(s.AdminConfig())
	testkit.Must(t, err)
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		testkit.Must(t, err)
		for _, kind := range list.APIResources {
			if !slices.Contains(kind.Verbs, "list") || slices.Contains([]string{"events", "leases", "apiservices"}, kind.Name) {
				continue
			}
			objects, err := client.Resource(group.WithResource(kind.Name)).List(t.Context(), metav1.ListOptions{})
			testkit.Must(t, err)
			for _, o := range objects.Items {
				if o.GetName() != "kube-root-ca.crt" {
					all = append(all, fmt.Sprintf("%s %s/%s %v%s", kind.Name, o.GetNamespace(), o.GetName(), o.GetLabels(), about(o)))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

func about(o unstructured.Unstructured) (text string) {
	for _, path := range []string{"spec.nodeName", "spec.claimRef.name", "status.phase", "status.allocatable.pods", "data"} {
		value, _, _ := unstructured.NestedFieldNoCopy(o.Object, strings.Split(path, ".")...)
		if value != nil {
			text += fmt.Sprintf(" %s %v", path, value)
		}
	}
	return text
}

// TestResetGoesBackToWhatADataDirectoryAndAnImportHeld changes, adds and deletes something of everything. A pod that was
// pending at the start is scheduled once more.
func TestResetGoesBackToWhatADataDirectoryAndAnImportHeld(t *testing.T) {
	dir := t.TempDir()
	before := startIn(t, Config{Variant: "native", DataDir: dir})
	in := load(t)
	in.SchedulerConfig, in.Pods[1].Spec.SchedulerName = nil, "absent"
	testkit.Must(t, before.Import(t.Context(), in, nil))
	create(t, before, "/api/v1/namespaces/team/configmaps", "metadata: {name: mine}\ndata: {a: b}")
	create(t, before, "/apis/apiregistration.k8s.io/v1/apiservices", `
metadata: {name: v1beta1.metrics.k8s.io}
spec: {group: metrics.k8s.io, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: {namespace: kube-system, name: metrics-server}}`)
	testkit.Eventually(t, "the API is there, though no one serves it", func(context.Context) error {
		_, err := before.Client().Discovery().ServerPreferredNamespacedResources()
		if !discovery.IsGroupDiscoveryFailedError(err) {
			return fmt.Errorf("it is not: %w", err)
		}
		return nil
	})
	testkit.Must(t, before.Stop())

	s := startIn(t, Config{Variant: "native", DataDir: dir})
	const first = `
schedulerConfig: {profiles: [{schedulerName: imported}]}
namespaces: [{metadata: {name: alone, labels: {team: us}}}]
nodes: [{metadata: {name: imported, labels: {zone: a}}, status: {capacity: &room {cpu: "4", memory: 8Gi, pods: "7"}, allocatable: *room}}]
pods: [{metadata: {name: pending, namespace: alone}, spec: {schedulerName: imported, nodeSelector: {zone: a}, containers: [{name: c, image: c}]}}]
`
	testkit.Must(t, s.ImportFirst(t.Context(), read(t, first), nil))
	waitScheduled(t, s)
	start := state(t, s)
	testkit.Has(t, "\n"+strings.Join(start, "\n"),
		"\nnodes /node-1 ", "\nnodes /imported map[zone:a] status.phase Running status.allocatable.pods 7",
		"\npods team/bound map[] spec.nodeName node-1", "\npods alone/pending map[] spec.nodeName imported",
		"\npersistentvolumes /pv-1 map[] spec.claimRef.name pvc-1 status.phase Bound", "\nconfigmaps team/mine map[] data map[a:b]", "\nnamespaces /alone ")
	for range 2 { // and once more, from what the first has made
		upset(t, s)
		testkit.Must(t, s.Reset(t.Context()))
		waitScheduled(t, s)
		now := state(t, s)
		testkit.Equal(t, strings.Join(now, "\n"), strings.Join(start, "\n"), "what a reset gives")
		testkit.Has(t, string(s.SchedulerConfig()), "imported")
	}
}

// waitScheduled waits until the pod that was pending runs, by an attempt since the reset.
func waitScheduled(t *testing.T, s *Simulator) {
	t.Helper()
	testkit.EventuallyIs(t, "pending", s.Client().CoreV1().Pods("alone").Get, func(pod *v1.Pod) bool {
		return pod.Status.Phase == v1.PodRunning && len(s.Recorder().Attempts("alone", "pending")) > 0
	})
}

func upset(t *testing.T, s *Simulator) {
	t.Helper()
	core, now := s.Client().CoreV1(), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	for what, err := range map[string]error{
		"node":      core.Nodes().Delete(t.Context(), "imported", now),
		"pod":       core.Pods("team").Delete(t.Context(), "bound", now),
		"claim":     core.PersistentVolumeClaims("team").Delete(t.Context(), "pvc-1", now),
		"namespace": core.Namespaces().Delete(t.Context(), "alone", now),
		"importing": s.Import(t.Context(), read(t, "nodes: [{metadata: {name: made-later, labels: {zone: a}}}, {metadata: {name: node-1, labels: {zone: b}}}]"), nil),
		"config":    s.ApplySchedulerConfig(t.Context(), []byte("profiles: [{schedulerName: later}]")),
	} {
		if err != nil {
			t.Fatal(what, ": ", err)
		}
	}
	create(t, s, "/api/v1/namespaces", "metadata: {name: later}")
	for _, namespace := range []string{"default", "team", "later"} {
		create(t, s, "/api/v1/namespaces/"+namespace+"/configmaps", "metadata: {name: later}")
	}
	create(t, s, "/apis/rbac.authorization.k8s.io/v1/clusterroles", "metadata: {name: later}")
	create(t, s, "/apis/scheduling.k8s.io/v1/priorityclasses", "metadata: {name: later}\nvalue: 1")
}
