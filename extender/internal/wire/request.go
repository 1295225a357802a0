// Package wire decodes the requests of kube-scheduler to an extender and encodes the
// answers: the types of k8s.io/kube-scheduler/extender/v1 in JSON.
//
// It decodes only the fields that algorithms read, and returns nodes byte for byte, with
// fields that it does not know. Like encoding/json in kube-scheduler it accepts the names of
// members in any case. It knows nothing of HTTP, and accounts for its memory.
package wire

import (
	"errors"
	"maps"
	"slices"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// A Form is how a request names its candidate nodes.
type Form int

const (
	// Neither means that there are none: all these fields are null.
	Neither Form = iota
	// Full nodes, from a scheduler with nodeCacheCapable: false.
	Full
	// Names only, from a scheduler with nodeCacheCapable: true.
	Names
	// Victims by node, in an ExtenderPreemptionArgs.
	Victims
)

// A Request is a decoded ExtenderArgs or ExtenderPreemptionArgs. It is valid as long as the body does not change.
type Request struct {
	algorithm.Args
	Form Form

	body  []byte
	list  span // the NodeList
	items span // its items, with brackets; empty if it has none
	nodes []node

	arePlain bool               // the names, in JSON
	victims  map[string]victims // by name of the node
}

// span is a part of the body.
type span struct{ start, end int }

func (r *Request) bytes(s span) []byte { return r.body[s.start:s.end] }

// Read decodes an ExtenderArgs or ExtenderPreemptionArgs. Before it uses memory, for the request, its answer and the
// algorithms, it calls take. The error is take's, or names the place in the body. The
// Request keeps body.
func Read(body []byte, take func(bytes int64) error) (*Request, error) {
	if err := checkBounds(body); err != nil {
		return nil, err
	}
	args, err := decode(body, take)
	if err != nil {
		return nil, err
	}
	r := &Request{body: body}
	if err := r.setNodes(args); err != nil {
		return nil, err
	}
	meta := args.Pod.Metadata
	r.Pod = algorithm.Pod{Namespace: meta.Namespace, Name: meta.Name, Annotations: meta.Annotations}
	return r, nil
}

// setNodes takes the candidate nodes from the one field that has them.
func (r *Request) setNodes(args *extenderArgs) error {
	nodes, names, full, meta := args.Nodes, args.NodeNames, args.NodeNameToVictims, args.NodeNameToMetaVictims
	given := 0
	for _, is := range []bool{nodes != nil, names.list != nil, full != nil, meta != nil} {
		if is {
			given++
		}
	}
	switch {
	case args.Pod == nil:
		return errors.New("field Pod is missing")
	case given > 1:
		return errors.New("the request has several of Nodes, NodeNames, NodeNameToVictims and NodeNameToMetaVictims: send one of them")
	case nodes != nil:
		r.Form = Full
		r.list = nodes.at
		r.items = nodes.is.Items.at
		r.nodes = nodes.is.Items.is
		for _, node := range r.nodes {
			r.Names = append(r.Names, node.is.Metadata.Name)
		}
	case names.list != nil:
		r.Form = Names
		r.Names = names.list
		r.arePlain = names.arePlain
	case given == 1:
		r.Form, r.victims = Victims, full
		if full == nil {
			r.victims = meta
		}
		r.Names = slices.Sorted(maps.Keys(r.victims))
	}
	return nil
}
