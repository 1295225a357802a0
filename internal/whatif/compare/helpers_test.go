package compare

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// variant is one of the ready-made configurations.
func variant(t *testing.T, name string) Scheduler {
	t.Helper()
	config, err := simulator.SchedulerConfig(name)
	testkit.Must(t, err)
	return Scheduler{Name: name, Config: config}
}

// Pods are in the order of age in which they are made.
var nodeOf, podOf, on = objects.PlainNode, objects.PlainPod, objects.On

func withRegex(pod v1.Pod, pattern string) v1.Pod {
	pod.Annotations = map[string]string{regex.Annotation: pattern}
	return pod
}

// clusterOf is made of nodes in three zones and of pods of several sizes.
func clusterOf(nodes, pods int) *snapshot.Snapshot {
	s := &snapshot.Snapshot{}
	for i := range nodes {
		s.Nodes = append(s.Nodes, nodeOf(fmt.Sprintf("node-%03d", i), fmt.Sprint("zone-", i%3), []string{"4", "8"}[i%2]))
	}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range pods {
		pod := podOf(fmt.Sprintf("pod-%04d", i), []string{"100m", "250m", "500m", "1"}[i%4])
		pod.CreationTimestamp = metav1.NewTime(began.Add(time.Duration(i) * time.Second))
		s.Pods = append(s.Pods, pod)
	}
	return s
}

func whatIf(config []byte) (engine.Options, func() error, error) {
	return simulator.WhatIf(config, nil)
}

// run compares, and shows what was compared if the test fails.
func run(t *testing.T, o Options) *Result {
	t.Helper()
	if o.Pods == "" {
		o.Pods = side.Pending
	}
	o.WhatIf, o.Cluster = whatIf, o.Cluster.DeepCopy() // which is used up
	results, err := Run(t.Context(), o)
	testkit.Must(t, err)
	result := results[0]
	t.Logf("%+v", result.Counts)
	for _, d := range result.Differences {
		t.Logf("%s %s: %s by %s (follows: %t): %s", d.Kind, d.key(), d.Cause, d.Plugin, d.Follows, d.Reason)
	}
	return result
}

// amounts are resources, each with its quantity.
func amounts(all ...string) v1.ResourceList {
	list := v1.ResourceList{}
	for i := 0; i < len(all); i += 2 {
		list[v1.ResourceName(all[i])] = resource.MustParse(all[i+1])
	}
	return list
}

// resultOf is a side on which pods came out so.
func resultOf(pods map[types.NamespacedName]side.Outcome) *side.Result {
	r := &side.Result{}
	for name, o := range pods {
		r.Pods = append(r.Pods, &side.Pod{Namespace: name.Namespace, Name: name.Name, Outcome: o})
	}
	return r.Index()
}
