// Package wire reads what kube-scheduler sends to an extender and writes what
// it wants back: the types of k8s.io/kube-scheduler/extender/v1 as JSON. It is no API.
//
// It decodes only what algorithms ask for and passes nodes on byte for byte,
// fields that it has never heard of included. Like encoding/json at the other
// end it takes the names of members in any case; unlike it, it refuses a member
// that is given twice, since the two ends might not pick the same one. It knows
// nothing of HTTP, and asks for the memory that it takes.
package wire

import (
	"errors"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// A Form is how a request names its candidate nodes.
type Form int

const (
	// Neither means that both lists are null: there is nothing to answer.
	Neither Form = iota
	// Full nodes, from a scheduler with nodeCacheCapable: false.
	Full
	// Names only, from a scheduler with nodeCacheCapable: true.
	Names
)

// A Request is an ExtenderArgs that was read by Read. It is good as long as the
// body does not change.
type Request struct {
	algorithm.Args
	Form Form

	body  []byte
	list  span // the NodeList
	items span // its items, with brackets; empty if it has none
	nodes []node
}

// span is where something lies in the body.
type span struct{ start, end int }

func (r *Request) bytes(s span) []byte { return r.body[s.start:s.end] }

// node is a full node: where it lies, and its name.
type node struct {
	span
	name string
}

// Read reads an ExtenderArgs. The error says where in the body the mistake is, or
// is that of take, which is asked for the memory that the request takes, answer and
// algorithms included, before it does. The Request keeps body.
func Read(body []byte, take func(bytes int64) error) (*Request, error) {
	if err := checkBounds(body); err != nil {
		return nil, err
	}
	args, err := decode(body, take)
	if err != nil {
		return nil, err
	}
	pod, nodes, names := args.Pod.is, args.Nodes.is, args.NodeNames.is
	r := &Request{body: body}
	switch {
	case pod == nil:
		return nil, errors.New("field Pod is missing")
	case nodes != nil && names != nil:
		return nil, errors.New("the request has both Nodes and NodeNames: send one of them")
	case nodes != nil:
		r.Form, r.list, r.items, r.nodes = Full, args.Nodes.at, nodes.Items.at, nodes.Items.is
		for _, node := range r.nodes {
			r.Names = append(r.Names, node.name)
		}
	case names != nil:
		r.Form, r.Names = Names, names
	}
	meta := pod.Metadata.is
	r.Pod = algorithm.Pod{Namespace: meta.Namespace.is, Name: meta.Name.is, Annotations: make(map[string]string, len(meta.Annotations.is))}
	for key, value := range meta.Annotations.is {
		r.Pod.Annotations[key] = value.is
	}
	return r, nil
}
