package fit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

const another = `
apiVersion: v1
kind: Node
metadata: {name: large, uid: u, resourceVersion: "5", labels: {kubernetes.io/hostname: large, topology.kubernetes.io/zone: c}}
spec: {podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24]}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}
`

// grown tries manifests with more nodes like one.
func grown(t *testing.T, node string, manifests ...string) (*Fitting, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "node.yaml")
	testkit.Must(t, os.WriteFile(path, []byte(node), 0o600))
	like, err := ReadNode(path, nil)
	testkit.Must(t, err)
	o := optionsFor(t, manifests...)
	o.GrowWith = like
	return Fit(t.Context(), o)
}

func TestGrowAddsNodesLikeOneWithTheLongestHostname(t *testing.T) {
	f, err := grown(t, strings.ReplaceAll(another, "large", strings.Repeat("l", 62)), manifest("Deployment", "large", "replicas: 12, "+asks("3", "")))
	testkit.Must(t, err)
	if !f.Fits() || f.Growth.Nodes < 10 {
		t.Errorf("%s with %s", f.Verdict(), f.Growth)
	}
}

func TestGrowAddsNodesThatAreReadyAndSchedulable(t *testing.T) {
	like := strings.Replace(another, "spec: {", "spec: {unschedulable: true, taints: [{key: node.kubernetes.io/not-ready, effect: NoExecute}], ", 1)
	f, err := grown(t, like, manifest("Deployment", "large", "replicas: 1, "+asks("3", "nodeSelector: {topology.kubernetes.io/zone: c}, ")))
	testkit.Must(t, err)
	if !f.Fits() || f.Growth.Nodes != 1 {
		t.Errorf("%s with %s", f.Verdict(), f.Growth)
	}
}

func TestGrowAddsNodesUntilEverythingFits(t *testing.T) {
	seven := manifest("Deployment", "large", "replicas: 7, "+asks("3", ""))
	for name, tt := range map[string]struct {
		manifests []string
		verdict   string
		nodes     int
	}{
		"one for each pod":                   {[]string{seven}, "7 pods would fit with 7 more nodes like large", 7},
		"some of them":                       {[]string{manifest("Deployment", "small", "replicas: 12, "+asks("1", ""))}, "12 pods would fit with 2 more nodes like large", 2},
		"none":                               {[]string{manifest("Deployment", "web", "replicas: 2, "+asks("1", ""))}, "2 pods would fit without another node", 0},
		"a DaemonSet has a pod on each":      {[]string{manifest("DaemonSet", "agent", asks("2", "")), manifest("Deployment", "small", "replicas: 3, "+asks("1", "nodeSelector: {topology.kubernetes.io/zone: c}, "))}, "7 pods would fit with 2 more nodes like large", 2},
		"and what they preempt has a node":   {[]string{manifest("Deployment", "urgent", "replicas: 2, "+asks("4", "priorityClassName: high, "))}, "2 pods would fit with 1 more node like large, and 2 pods would be preempted", 1},
		"a StatefulSet, one after the other": {[]string{manifest("StatefulSet", "db", "replicas: 6, "+asks("3", ""))}, "6 pods would fit with 6 more nodes like large", 6},
		"no number of them is enough":        {[]string{manifest("Deployment", "huge", "replicas: 3, "+asks("5", ""))}, "3 pods would stay pending, even with 3 more nodes like large", 3},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := grown(t, another, tt.manifests...)
			testkit.Must(t, err)
			if f.Verdict() != tt.verdict || f.Growth.Nodes != tt.nodes || f.Fits() != !strings.Contains(tt.verdict, "pending") {
				t.Errorf("%s, %+v", f.Verdict(), f.Growth)
			}
		})
	}
}

func TestReadNodeReportsMistakes(t *testing.T) {
	dir := t.TempDir()
	for want, node := range map[string]string{
		"there has to be one Node, and nothing else": another + "---" + strings.Replace(another, "name: large", "name: other", 1),
		"has to be one Node":                         manifest("Deployment", "a", specOf("")),
		"the Node needs a metadata.name, and status.allocatable or status.capacity": "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n",
	} {
		path := filepath.Join(dir, fmt.Sprint(len(node), ".yaml"))
		testkit.Must(t, os.WriteFile(path, []byte(node), 0o600))
		node, err := ReadNode(path, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("got %v, %v, want %s", node, err, want)
		}
	}
}
