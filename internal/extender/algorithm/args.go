package algorithm

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Args is a request: a pod and the nodes that are left for it. It is good
// until the call that got it returns; the strings in it are good forever.
type Args struct {
	Pod Pod
	// Names are the names of the candidate nodes, as the request orders them.
	// A node without a name has the empty one, and names may repeat.
	Names []string
	// Raw returns the JSON of node i, or is nil if the scheduler sent only
	// names (nodeCacheCapable).
	Raw func(i int) []byte
}

// Pod is what algorithms commonly want to know of a pod.
type Pod struct {
	Namespace, Name, UID, ResourceVersion string
	Annotations                           map[string]string
	// Raw is the pod's JSON.
	Raw []byte
}

// String is namespace/name.
func (p *Pod) String() string { return p.Namespace + "/" + p.Name }

// Decode decodes the whole pod, which takes about as long as everything else
// in a request with names.
func (p *Pod) Decode() (*corev1.Pod, error) {
	var pod corev1.Pod
	if err := json.Unmarshal(p.Raw, &pod); err != nil {
		return nil, fmt.Errorf("pod %s: %w", p, err)
	}
	return &pod, nil
}

// ErrNamesOnly means that an algorithm needs nodes and the request has names.
var ErrNamesOnly = errors.New("the request has node names only: set nodeCacheCapable: false for this extender in the scheduler's configuration")

// Node decodes the whole node i. It returns ErrNamesOnly if only its name came.
func (a *Args) Node(i int) (*corev1.Node, error) {
	if a.Raw == nil {
		return nil, ErrNamesOnly
	}
	var node corev1.Node
	if err := json.Unmarshal(a.Raw(i), &node); err != nil {
		return nil, fmt.Errorf("node %s: %w", a.Names[i], err)
	}
	return &node, nil
}

// only returns the same request with just the nodes whose indices are given.
func (a *Args) only(indices []int) *Args {
	few := &Args{Pod: a.Pod, Names: make([]string, len(indices))}
	for i, k := range indices {
		few.Names[i] = a.Names[k]
	}
	if a.Raw != nil {
		few.Raw = func(i int) []byte { return a.Raw(indices[i]) }
	}
	return few
}
