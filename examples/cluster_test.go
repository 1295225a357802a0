// The tests of cluster/, a cluster to try things on.

package examples

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
)

// made is what the script writes.
func made(t *testing.T, nodes, pods string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "awk", "-f", "cluster/cluster.awk", "-v", "nodes="+nodes, "-v", "pods="+pods).Output()
	testkit.Must(t, err)
	return out
}

func read(t *testing.T, file []byte) *snapshot.Snapshot {
	t.Helper()
	s, notices, err := snapshot.Read(bytes.NewReader(file))
	if err != nil || len(notices) > 0 {
		t.Fatalf("%v %v", err, notices)
	}
	return s
}

func TestClusterIsOneThatCouldRun(t *testing.T) {
	file := made(t, "60", "300")
	if !bytes.Equal(file, made(t, "60", "300")) {
		t.Error("the same numbers give another file")
	}
	s := read(t, file)
	if len(s.Nodes) != 60 || len(s.Pods) != 300 || len(s.Deployments)+len(s.StatefulSets) != 60 {
		t.Errorf("%d nodes, %d pods, %d Deployments, %d StatefulSets", len(s.Nodes), len(s.Pods), len(s.Deployments), len(s.StatefulSets))
	}
	pending, patterns := 0, 0
	c := newChecks(t, s)
	for i := range s.Pods {
		pod := &s.Pods[i]
		node := c.nodes[pod.Spec.NodeName]
		if node == nil {
			pending++
			continue
		}
		c.fits(pod, node)
		c.reaches(pod, node)
		if c.matches(pod, node) {
			patterns++
		}
	}
	if pending == 0 || pending > 10 || patterns == 0 || len(s.PVs) == 0 || len(c.zones) != len(s.PVs) || len(s.PodDisruptionBudgets) == 0 {
		t.Errorf("%d pending, %d regexes, %d volumes, %d budgets", pending, patterns, len(s.PVs), len(s.PodDisruptionBudgets))
	}
}

// checks look at pods that have a node.
type checks struct {
	*testing.T
	nodes map[string]*v1.Node
	room  map[string]v1.ResourceList // what is left on each
	zones map[string]string          // of claims
}

func newChecks(t *testing.T, s *snapshot.Snapshot) *checks {
	c := &checks{t, map[string]*v1.Node{}, map[string]v1.ResourceList{}, map[string]string{}}
	for i := range s.Nodes {
		c.nodes[s.Nodes[i].Name], c.room[s.Nodes[i].Name] = &s.Nodes[i], s.Nodes[i].Status.Allocatable
	}
	for _, volume := range s.PVs {
		zone := volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]
		c.zones[volume.Spec.ClaimRef.Name] = zone.Values[0]
	}
	return c
}

func (c *checks) fits(pod *v1.Pod, node *v1.Node) {
	for name, asked := range resource.PodRequests(pod, resource.PodResourcesOptions{}) {
		left := c.room[node.Name][name]
		left.Sub(asked)
		if left.Sign() < 0 {
			c.Errorf("%s: node %s has no %s left", pod.Name, node.Name, name)
		}
		c.room[node.Name][name] = left
	}
}

func (c *checks) reaches(pod *v1.Pod, node *v1.Node) {
	for _, volume := range pod.Spec.Volumes {
		zone := c.zones[volume.PersistentVolumeClaim.ClaimName]
		if zone != node.Labels[v1.LabelTopologyZone] {
			c.Errorf("%s is on %s, its volume in %q", pod.Name, node.Name, zone)
		}
	}
}

// matches reports whether a pod has a regex.
func (c *checks) matches(pod *v1.Pod, node *v1.Node) bool {
	selector, err := regex.Default.Selector(pod.Annotations)
	if err != nil || selector != nil && !selector.Match(node.Name) {
		c.Errorf("%s is on %s: %v", pod.Name, node.Name, err)
	}
	return selector != nil
}

func TestConfigurationsAreGood(t *testing.T) {
	for _, name := range []string{"cluster/least.yaml", "cluster/most.yaml"} {
		text, err := os.ReadFile(name)
		testkit.Must(t, err)
		config, err := scheduler.Read(text)
		if err != nil || len(config.Profiles) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
