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
	if args.Pod == nil {
		return nil, errors.New("field Pod is missing")
	}
	meta := args.Pod.Metadata
	r := &Request{body: body}
	r.Pod = algorithm.Pod{Namespace: meta.Namespace, Name: meta.Name, Annotations: meta.Annotations}
	r.setNodes(args)
	return r, nil
}

// setNodes takes the candidate nodes from the first field that has them. kube-scheduler sends one.
func (r *Request) setNodes(args *extenderArgs) {
	switch {
	case args.Nodes != nil:
		r.Form = Full
		r.list = args.Nodes.at
		r.items = args.Nodes.is.Items.at
		r.nodes = args.Nodes.is.Items.is
		for _, node := range r.nodes {
			r.Names = append(r.Names, node.is.Metadata.Name)
		}
	case args.NodeNames.list != nil:
		r.Form = Names
		r.Names = args.NodeNames.list
		r.arePlain = args.NodeNames.arePlain
	case args.NodeNameToVictims != nil:
		r.setVictims(args.NodeNameToVictims)
	case args.NodeNameToMetaVictims != nil:
		r.setVictims(args.NodeNameToMetaVictims)
	}
}

func (r *Request) setVictims(of map[string]victims) {
	r.Form = Victims
	r.victims = of
	r.Names = slices.Sorted(maps.Keys(of))
}
