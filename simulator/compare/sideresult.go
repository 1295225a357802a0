package compare

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// Format is the version of [SideResult] as a file. Only files of this one are read.
const Format = 1

// SideResult is what came of one configuration: all that another is judged against, and
// that a report is made of. [SideResult.Write] and [ReadSideResult] keep it in a file.
type SideResult struct {
	Format     int    `json:"format"`
	Program    string `json:"program"`    // which build wrote it
	Kubernetes string `json:"kubernetes"` // whose scheduler it was, as v1.36.1
	Name       string `json:"name"`       // of the configuration
	Task       Task   `json:"task"`
	// Nodes are those of the file, and those that the scenario has made, by name.
	Nodes []Node `json:"nodes"`
	// Pods are those of the file that have not ended, and those that the scenario has
	// made, by namespace and name.
	Pods    []*Pod            `json:"pods"`
	LeftOut []snapshot.Notice `json:"leftOut,omitempty"` // what the API server has refused
	Setups  map[string]Setup  `json:"setups"`            // what decides for pods, by profile
	Took    time.Duration     `json:"tookNanoseconds"`
	// NodeNames is what the attempts refer to.
	NodeNames []string `json:"nodeNames"`

	byName map[types.NamespacedName]*Pod
}

// Task is what a side was to do. Two sides are judged if theirs is the same.
type Task struct {
	Cluster    string `json:"cluster"`            // digest of the file
	Scenario   string `json:"scenario,omitempty"` // digest of the file
	Steps      int    `json:"steps,omitempty"`
	Pods       string `json:"pods"`                 // one of Modes
	Schedulers string `json:"schedulers,omitempty"` // whose pods All schedules anew
	Seed       uint64 `json:"seed"`
}

// Node is a node as it was at the end.
type Node struct {
	Name          string            `json:"name"`
	Labels        map[string]string `json:"labels,omitempty"`
	Allocatable   v1.ResourceList   `json:"allocatable,omitempty"`
	Taints        []v1.Taint        `json:"taints,omitempty"`
	Unschedulable bool              `json:"unschedulable,omitempty"`
	Today         bool              `json:"today,omitempty"` // it is in the file
	Gone          bool              `json:"gone,omitempty"`  // the scenario has deleted it
}

// Owner is the workload that a pod belongs to: the Deployment and not its ReplicaSet,
// the CronJob and not its Job.
type Owner struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Pod is a pod, and what became of it.
type Pod struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Owner     Owner             `json:"owner,omitzero"`
	Labels    map[string]string `json:"labels,omitempty"`
	Requests  v1.ResourceList   `json:"requests,omitempty"` // extended resources, too
	Priority  int32             `json:"priority,omitempty"`
	Today     string            `json:"today,omitempty"` // its node in the file
	Stays     bool              `json:"stays,omitempty"` // it was not to be scheduled anew
	Ended     bool              `json:"ended,omitempty"` // it requests nothing any more
	Outcome
	Trail Trail `json:"trail,omitzero"`
}

// Trail is what a file keeps of an Outcome, and a Result does not.
type Trail struct {
	Took    time.Duration    `json:"tookNanoseconds,omitempty"`
	Since   uint64           `json:"since,omitempty"`   // the attempt that pushed it out
	Victims []int32          `json:"victims,omitempty"` // the priorities of whom it pushed out
	Last    *recorder.Packed `json:"last,omitempty"`    // the last attempt
	Room    *recorder.Packed `json:"room,omitempty"`    // the first that made room
}

func newNode(node *v1.Node, today bool) Node {
	return Node{
		Name: node.Name, Labels: node.Labels, Allocatable: node.Status.Allocatable, Taints: node.Spec.Taints,
		Unschedulable: node.Spec.Unschedulable, Today: today,
	}
}

// index makes pods be found by name, in a result that is made otherwise than by reading.
func (r *SideResult) index() *SideResult {
	r.byName = make(map[types.NamespacedName]*Pod, len(r.Pods))
	for _, pod := range r.Pods {
		r.byName[pod.key()] = pod
	}
	return r
}

func (p *Pod) key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// Write writes the result to a file, compressed if its name ends in .gz.
func (r *SideResult) Write(path string) error {
	var packer recorder.Packer
	for _, pod := range r.Pods {
		o := &pod.Outcome
		pod.Trail = Trail{o.took, o.since, o.victims, packer.Pack(o.Attempt), packer.Pack(o.room)}
	}
	r.Format, r.NodeNames = Format, packer.Names
	err := atomicfile.Write(path, func(to io.Writer) error {
		if filepath.Ext(path) != ".gz" {
			return json.NewEncoder(to).Encode(r)
		}
		compressed, _ := gzip.NewWriterLevel(to, gzip.BestSpeed) // which is a level
		return errors.Join(json.NewEncoder(compressed).Encode(r), compressed.Close())
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// ReadSideResult reads a file that [SideResult.Write] has written, compressed or not.
func ReadSideResult(path string) (*SideResult, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := &SideResult{}
	if err := r.read(file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

var errNoResult = errors.New(`it is no result: "simulator side" writes those`)

func (r *SideResult) read(file *os.File) error {
	in, err := uncompressed(file)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(in)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file is cut off")
	} else if err != nil {
		return err
	}
	// The rest is looked at once it is known what it means.
	var head struct{ Format int }
	switch err := json.Unmarshal(raw, &head); {
	case err != nil && len(raw) > 0 && strings.Contains(string(raw[:min(len(raw), 20)]), `"format"`):
		return fmt.Errorf("the file is cut off or damaged: %w", err)
	case err != nil || head.Format == 0:
		return errNoResult
	case head.Format != Format:
		return fmt.Errorf("it is a result of format %d, and this simulator reads format %d: write it anew, with a side of this release", head.Format, Format)
	}
	if err := json.Unmarshal(raw, r); err != nil {
		return fmt.Errorf("the file is damaged: %w", err)
	}
	for _, pod := range r.Pods {
		if err := pod.unpack(r.NodeNames); err != nil {
			return fmt.Errorf("the file is damaged: %w", err)
		}
	}
	r.index()
	return nil
}

func (p *Pod) unpack(names []string) (err error) {
	if p == nil {
		return errors.New("a pod is missing")
	}
	last, errLast := p.Trail.Last.Unpack(names)
	room, errRoom := p.Trail.Room.Unpack(names)
	if err := cmp.Or(errLast, errRoom); err != nil {
		return fmt.Errorf("pod %s: %w", p.key(), err)
	}
	p.Attempt, p.room, p.took, p.since, p.victims = last, room, p.Trail.Took, p.Trail.Since, p.Trail.Victims
	p.Trail = Trail{}
	return nil
}

func uncompressed(file *os.File) (io.Reader, error) {
	magic := make([]byte, 2)
	n, err := file.ReadAt(magic, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if string(magic[:n]) == "\x1f\x8b" {
		return gzip.NewReader(file)
	}
	return file, nil
}

// differs says in what a task is another one, or nothing.
func (t Task) differs(from Task) string {
	var in []string
	for _, part := range []struct {
		what string
		a, b any
	}{
		{"another cluster", t.Cluster, from.Cluster}, {"another scenario", t.Scenario, from.Scenario}, {"other --pods", t.Pods, from.Pods},
		{"other --schedulers", t.Schedulers, from.Schedulers}, {"another --seed", t.Seed, from.Seed},
	} {
		if part.a != part.b {
			in = append(in, part.what)
		}
	}
	return strings.Join(in, ", ")
}

// JudgeFiles compares two results of the same task, as [Run] does with those that it
// has made.
func JudgeFiles(a, b string) (*Result, error) {
	sides := [2]*SideResult{}
	for i, path := range []string{a, b} {
		var err error
		if sides[i], err = ReadSideResult(path); err != nil {
			return nil, err
		}
	}
	if differs := sides[0].Task.differs(sides[1].Task); differs != "" {
		return nil, fmt.Errorf("%s and %s are not of the same task, and so nothing tells which difference is the configurations': %s", a, b, differs)
	}
	task := sides[0].Task
	result := newResult(&Options{A: Side{Name: sides[0].Name}, B: Side{Name: sides[1].Name}, Pods: task.Pods})
	result.Steps = task.Steps
	if err := result.judge(sides); err != nil {
		return nil, err
	}
	result.sort()
	result.Took = sides[0].Took + sides[1].Took
	return result, nil
}

// judge adds what came of a run.
func (r *Result) judge(sides [2]*SideResult) error {
	if r.add(sides[0].Task.Seed, judge(sides[0], sides[1])); r.Asked == 0 {
		return r.nothing()
	}
	if a, b := sides[0].Kubernetes, sides[1].Kubernetes; a != b && len(r.Runs) == 1 {
		r.A, r.B = r.A+" (Kubernetes "+a+")", r.B+" (Kubernetes "+b+")"
	}
	return nil
}

func sortPods(pods []*Pod) {
	slices.SortFunc(pods, func(a, b *Pod) int { return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) })
}
