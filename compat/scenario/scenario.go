// Package scenario calls a guest's hooks and writes the host's answers down, in order to
// compare two hosts, each with its own Kubernetes: the upstream one in compat/, ours in
// wasmhost/.
//
// A scenario is data (testdata/scenarios), its transcript a text beside it. The transcript has
// names instead of what depends on the version of Kubernetes: the numbers of events, and the
// bytes of objects.
package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Scenario is one guest, and the calls of it, in this order.
type Scenario struct {
	About string `json:"about"`
	// Guest is a file, by its path in the repository.
	Guest string `json:"guest"`
	Args  Args   `json:"args"`
	// Waiting are pods that Permit delays.
	Waiting []string `json:"waiting"`
	Calls   []Call   `json:"calls"`

	// Cluster is the scheduler's cache.
	Cluster Cluster `json:"-"`
}

// Args are the args of the plugin that both hosts know.
type Args struct {
	GuestURL    string `json:"guestURL"`
	GuestConfig string `json:"guestConfig,omitempty"`
	LogSeverity int32  `json:"logSeverity,omitempty"`
}

// Call is a hook, called for one pod: once, or once for each node.
type Call struct {
	Hook  string   `json:"hook"`
	Pod   string   `json:"pod"`
	Nodes []string `json:"nodes"` // empty: all, for hooks that have nodes
	// Target is the pod that is added or removed.
	Target   string           `json:"target"`
	Statuses map[string]int   `json:"statuses"`
	Scores   map[string]int64 `json:"scores"`
	// Reads is what the reason has in hexadecimal: a text, or the bytes of a pod, node,
	// nodes, images or size (of what did not fit). Empty is a reason as it stands.
	Reads string `json:"reads"`
}

// Cluster holds the objects of all scenarios.
type Cluster struct {
	Nodes []v1.Node `json:"nodes"`
	Pods  []v1.Pod  `json:"pods"`
}

// Pod returns a pod by its name.
func (c Cluster) Pod(name string) *v1.Pod {
	i := slices.IndexFunc(c.Pods, func(pod v1.Pod) bool { return pod.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Pods[i]
}

func (c Cluster) nodeNames() []string {
	names := make([]string, len(c.Nodes))
	for i, node := range c.Nodes {
		names[i] = node.Name
	}
	return names
}

// Files lists the files of scenarios in a folder, which has objects.yaml too.
func Files(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	files = slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == objects })
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no scenarios in %s", folder)
	}
	return files, err
}

const objects = "objects.yaml"

// Read returns the scenarios of a file, one of each of its documents.
func Read(file string) ([]Scenario, error) {
	var cluster Cluster
	data, err := os.ReadFile(filepath.Join(filepath.Dir(file), objects))
	if err == nil {
		err = yaml.UnmarshalStrict(data, &cluster)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", objects, err)
	}
	data, err = os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var scenarios []Scenario
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		s := Scenario{Cluster: cluster}
		if err := yaml.UnmarshalStrict([]byte(document), &s); err != nil {
			return nil, fmt.Errorf("%s, scenario %d: %w", file, len(scenarios)+1, err)
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}
