package side

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// Format is the version of [Result] as a file. Only files of this one are read.
const Format = 4

// Result is the result of one configuration: all that another is compared with, and
// that a report is made of. [Result.Write] and [Read] keep it in a file.
type Result struct {
	Format     int    `json:"format"`
	Kubernetes string `json:"kubernetes"` // whose scheduler it was, as v1.36.1
	Name       string `json:"name"`       // of the configuration
	// Task is what was to be done, by the flags of the command, with digests for files.
	// Two sides are judged if theirs is the same.
	Task  map[string]string `json:"task"`
	Mode  string            `json:"mode"`  // one of Modes
	Steps int               `json:"steps"` // how many the scenario has
	Seed  uint64            `json:"seed"`
	// Nodes are as they were at the end, by name.
	Nodes []Node `json:"nodes"`
	// Pods are of the file, unless they have ended, and of the scenario.
	Pods     []*Pod            `json:"pods"`
	Rejected []snapshot.Notice `json:"rejected,omitempty"` // what the API server has rejected
	// NotModelled is what the scheduler asked for, or a real cluster would have done, and
	// was not done.
	NotModelled []string         `json:"notModelled,omitempty"`
	Unanswered  []string         `json:"unanswered,omitempty"` // extenders that did not answer: there is no verdict then
	Skipped     []string         `json:"skipped,omitempty"`    // pods that are being deleted already
	Inferred    []string         `json:"inferred,omitempty"`   // what the file lacks, and was made as its pods are
	Ignored     []string         `json:"ignored,omitempty"`    // pods that were tried without their regex, which no plugin reads
	Read        []string         `json:"read,omitempty"`       // pods that were tried with a regex
	Reads       []string         `json:"reads,omitempty"`      // keys of the annotations that are read
	Lacks       []report.Lack    `json:"lacks,omitempty"`      // as in a report's basis
	Remedy      string           `json:"remedy,omitempty"`
	Setups      map[string]Setup `json:"setups"` // what decides for pods, by profile
	// NodeNames is what the attempts refer to.
	NodeNames []string `json:"nodeNames"`

	byName map[types.NamespacedName]*Pod
}

// Node is a node as it was at the end.
type Node struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Allocatable v1.ResourceList   `json:"allocatable,omitempty"`
	Today       bool              `json:"today,omitempty"` // it is in the file
}

// Pod is a pod, and its outcome.
type Pod struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	Owner     cluster.Workload `json:"owner,omitzero"`
	Requests  v1.ResourceList  `json:"requests,omitempty"` // extended resources, too
	Priority  int32            `json:"priority,omitempty"`
	Today     string           `json:"today,omitempty"` // its node in the file
	Ended     bool             `json:"ended,omitempty"` // it requests nothing any more
	Outcome
	// Last and Room are the attempts of the Outcome, in a file alone.
	Last *recorder.Saved `json:"last,omitempty"`
	Room *recorder.Saved `json:"room,omitempty"`
}

// Key is the name, with the namespace.
func (p *Pod) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// Index has pods be found by name. Call it after a change of Pods.
func (r *Result) Index() *Result {
	r.byName = make(map[types.NamespacedName]*Pod, len(r.Pods))
	for _, pod := range r.Pods {
		r.byName[pod.Key()] = pod
	}
	return r
}

// Write writes the result to a file, compressed if its name ends in .gz.
func (r *Result) Write(path string) error {
	for _, pod := range r.Pods {
		pod.Last, pod.Room = pod.Attempt.Save(&r.NodeNames), pod.MadeRoom.Save(&r.NodeNames)
	}
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

// Read reads a file that [Result.Write] has written.
func Read(path string) (*Result, error) {
	file, err := readfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := &Result{}
	if err := r.read(file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r.Index(), nil
}

func (r *Result) read(file io.Reader) error {
	buffered := bufio.NewReader(file)
	from := io.Reader(buffered)
	magic, _ := buffered.Peek(2) // a shorter file is none
	if string(magic) == "\x1f\x8b" {
		compressed, err := gzip.NewReader(buffered)
		if err != nil {
			return err
		}
		from = compressed
	}
	err := json.NewDecoder(from).Decode(r)
	switch {
	case r.Format != 0 && r.Format != Format: // and then it may not be as expected
		return fmt.Errorf("it is a result of format %d, and this simulator reads format %d: write it again with this release", r.Format, Format)
	case err != nil || r.Format == 0:
		return errors.New(`it is no result of "simulator side", or not all of one`)
	}
	for _, pod := range r.Pods {
		if pod == nil {
			return errors.New("the file is damaged: a pod is missing")
		}
		var last, room error
		pod.Attempt, last = pod.Last.Restore(r.NodeNames)
		pod.MadeRoom, room = pod.Room.Restore(r.NodeNames)
		if err := cmp.Or(last, room); err != nil {
			return fmt.Errorf("the file is damaged: pod %s: %w", pod.Key(), err)
		}
		pod.Last, pod.Room = nil, nil
	}
	return nil
}
