// The tests of cluster/, a cluster to try things on.

package examples

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
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

// Each pod with a node is where its regex lets it run.
func TestClusterHasWhatTheQuestionsNeed(t *testing.T) {
	file := made(t, "60", "300")
	if !bytes.Equal(file, made(t, "60", "300")) {
		t.Error("the same numbers give another file")
	}
	s := read(t, file)
	if len(s.Nodes) != 60 || len(s.Pods) != 300 || len(s.Deployments)+len(s.StatefulSets) != 60 || len(s.PVs) == 0 || len(s.PodDisruptionBudgets) == 0 {
		t.Errorf("%d nodes, %d pods, %d Deployments, %d StatefulSets, %d volumes, %d budgets",
			len(s.Nodes), len(s.Pods), len(s.Deployments), len(s.StatefulSets), len(s.PVs), len(s.PodDisruptionBudgets))
	}
	pending, patterns := 0, 0
	for i := range s.Pods {
		pod := &s.Pods[i]
		rules, err := regex.Default.Compile(pod.Annotations)
		testkit.Must(t, err)
		switch {
		case pod.Spec.NodeName == "":
			pending++
		case rules.Filters() && rules.Judge(pod.Spec.NodeName) == regex.Qualifies:
			patterns++
		case rules.Filters():
			t.Errorf("%s is on %s", pod.Name, pod.Spec.NodeName)
		}
	}
	if pending == 0 || pending > 10 || patterns == 0 {
		t.Errorf("%d pending, %d regexes", pending, patterns)
	}
}

func TestConfigurationsAreGood(t *testing.T) {
	for _, name := range []string{"cluster/least.yaml", "cluster/most.yaml"} {
		text, err := os.ReadFile(name)
		testkit.Must(t, err)
		config, err := kubescheduler.Read(text)
		if err != nil || len(config.Profiles) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
