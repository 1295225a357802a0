package side

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
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
	Ignored     []string         `json:"ignored,omitempty"`    // pods that were tried without their regex, which no plugin reads
	Setups      map[string]Setup `json:"setups"`               // what decides for pods, by profile
	Took        time.Duration    `json:"tookNanoseconds"`
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

// maxSize is the most bytes that a result may have, uncompressed: that of 5,000 nodes and
// 50,000 pods has a tenth of it.
const maxSize = 8 << 30

// Read reads a file that [Result.Write] has written.
func Read(path string) (*Result, error) {
	file, err := os.Open(path)
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
			return fmt.Errorf("the file is cut off or damaged: %w", err)
		}
		from = compressed
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxSize+1))
	if err != nil {
		return fmt.Errorf("the file is cut off or damaged: %w", err)
	}
	if len(raw) > maxSize {
		return fmt.Errorf("it has more than %d GiB, which no result has", maxSize>>30)
	}
	var is struct{ Format int } // the rest is looked at once it is known what it means
	if json.Unmarshal(raw, &is) == nil && is.Format != 0 && is.Format != Format {
		return fmt.Errorf("it is a result of format %d, and this simulator reads format %d: write it again with this release", is.Format, Format)
	}
	if json.Unmarshal(raw, r) != nil || is.Format == 0 {
		return errors.New(`it is no result of "simulator side", or not all of one`)
	}
	for _, pod := range r.Pods {
		if pod == nil {
			return errors.New("the file is damaged: a pod is missing")
		}
		var wrong [2]error
		pod.Attempt, wrong[0] = pod.Last.Restore(r.NodeNames)
		pod.MadeRoom, wrong[1] = pod.Room.Restore(r.NodeNames)
		if err := errors.Join(wrong[:]...); err != nil {
			return fmt.Errorf("the file is damaged: pod %s: %w", pod.Key(), err)
		}
		pod.Last, pod.Room = nil, nil
	}
	return nil
}
