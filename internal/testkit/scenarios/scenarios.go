// Package scenarios reads the files of whatif/testdata/scenarios: a change to a cluster, and
// its result. One test makes the change in memory, another in a live cluster, by the
// same requests to the API; both expect the same.
//
// A file is up to three YAML documents: the change and what is expected, the cluster, and
// the objects that the change makes, both as in a file of a snapshot.
package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiversion "k8s.io/apimachinery/pkg/util/version"
	feature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/version"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// Scenario is a file. What the change is made of is done in the order of its fields.
type Scenario struct {
	Name string `json:"-"`
	// Config names one of the ready-made configurations of the simulator. Empty: none.
	Config string `json:"config"`
	// Needs is a feature gate of Kubernetes, without which there is no such scenario.
	Needs featuregate.Feature `json:"needs"`
	// Since is the first minor of Kubernetes that comes to this.
	Since string `json:"since"`
	// Begin are the [Lines] before the change, where the scheduler has to do something first.
	Begin []string `json:"begin"`
	// Delete and Evict name objects and pods: "node a", "pod team/web", "web".
	Delete []string `json:"delete"`
	// Patch are merge patches, each with the kind and the name of its object.
	Patch []json.RawMessage `json:"patch"`
	// The objects of the last document are made here, in their order.
	Evict []string `json:"evict"`
	// Drain names nodes: they are cordoned, and their pods evicted as kubectl drain does.
	Drain []string `json:"drain"`
	// Expect are the [Lines] in the end.
	Expect []string `json:"expect"`

	// Each is called after each request of a change.
	Each func() `json:"-"`

	cluster, made []byte
	file          string
}

// T is what of a *testing.T a scenario needs. Fatal and Fatalf do not return.
type T interface {
	testkit.T
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// All are the scenarios of a directory that this minor of Kubernetes can have, by name.
func All(t *testing.T, directory string) (all []*Scenario) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios in %s: %v", directory, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		testkit.Must(t, err)
		s, err := Parse(strings.TrimSuffix(filepath.Base(file), ".yaml"), text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		s.file = file
		early := s.Since != "" && apiversion.MustParse(version.DefaultKubeBinaryVersion).LessThan(apiversion.MustParse(s.Since))
		if !early && (s.Needs == "" || feature.DefaultFeatureGate.Enabled(s.Needs)) {
			all = append(all, s)
		}
	}
	return all
}

// Parse reads the text of a file.
func Parse(name string, text []byte) (*Scenario, error) {
	s := &Scenario{Name: name, Config: "none", Each: func() {}}
	change, rest, _ := bytes.Cut(text, []byte("\n---\n"))
	s.cluster, s.made, _ = bytes.Cut(rest, []byte("\n---\n"))
	return s, yaml.UnmarshalStrict(change, s)
}

// Cluster is the cluster before the change.
func (s *Scenario) Cluster(t T) *snapshot.Snapshot {
	t.Helper()
	cluster, notices := s.snapshot(t, s.cluster)
	if len(notices) > 0 {
		t.Fatalf("%s: %v", s.file, notices)
	}
	return cluster
}

// Made are the objects that the change makes.
func (s *Scenario) Made(t T) *snapshot.Snapshot {
	t.Helper()
	made, _ := s.snapshot(t, s.made) // it goes with what is there
	return made
}

func (s *Scenario) snapshot(t T, text []byte) (*snapshot.Snapshot, []snapshot.Notice) {
	t.Helper()
	none := strings.TrimSpace(string(text))
	if none == "" || none == "{}" {
		return &snapshot.Snapshot{}, nil
	}
	read, notices, err := snapshot.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", s.file, err)
	}
	return read, notices
}

// Manifests are the objects that the change makes, as a person would apply them.
func (s *Scenario) Manifests(t T) string {
	t.Helper()
	var all strings.Builder
	made := s.Made(t)
	if made.Objects() > 0 {
		testkit.Must(t, made.WriteYAML(&all))
	}
	return all.String()
}

// Update writes what is expected into the file.
func (s *Scenario) Update(t *testing.T, lines []string) {
	t.Helper()
	text, err := os.ReadFile(s.file)
	testkit.Must(t, err)
	head, rest, _ := strings.Cut(string(text), "\n---\n")
	head, _, _ = strings.Cut(head, "\nexpect:")
	head += "\nexpect:"
	for _, line := range lines {
		if strings.ContainsAny(line, ":#'\"{}[]") {
			line = "'" + strings.ReplaceAll(line, "'", "''") + "'"
		}
		head += "\n- " + line
	}
	testkit.Must(t, os.WriteFile(s.file, []byte(head+"\n---\n"+rest), 0o644))
}

// about splits "kind namespace/name".
func about(text string) (kind, namespace, name string) {
	if before, after, ok := strings.Cut(text, " "); ok {
		kind, text = before, after
	}
	namespace, name, ok := strings.Cut(text, "/")
	if !ok {
		return kind, metav1.NamespaceDefault, text
	}
	return kind, namespace, name
}
