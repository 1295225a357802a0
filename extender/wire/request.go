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
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

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
	list  span   // the NodeList
	items span   // its items, with brackets; empty if it has none
	nodes []span // each of them
}

// span is where something lies in the body.
type span struct{ start, end int }

func (r *Request) bytes(s span) []byte { return r.body[s.start:s.end] }

// What a request takes in addition to its body, in bytes, and rather more than less: for
// a node's place here, in an algorithm and in an answer; for an annotation; for a
// byte of a string and its copies; and for one of a string that has to be
// decoded, and encoded again.
const (
	perNode        = 128
	perAnnotation  = 256
	perByte        = 4
	perByteDecoded = 12
)

// Read reads an ExtenderArgs. The error says where in the body the mistake is, or
// is that of take, which is asked for what memory the request takes, answer and
// algorithms included, before it does. The Request keeps body.
func Read(body []byte, take func(bytes int64) error) (*Request, error) {
	q := &Request{body: body}
	r := &reader{
		json: jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		body: body, take: take,
	}
	hasPod := false
	pod := r.object(field{"metadata", r.object(
		field{"name", r.text(&q.Pod.Name)},
		field{"namespace", r.text(&q.Pod.Namespace)},
		field{"annotations", r.annotations(&q.Pod.Annotations)},
	)})
	err := r.object(
		field{"Pod", func() error {
			hasPod = r.json.PeekKind() != 'n'
			return pod()
		}},
		field{"Nodes", r.inForm(q, Full, r.within(&q.list, r.object(field{"items", r.within(&q.items, r.list('[', r.node(q)))})))},
		field{"NodeNames", r.inForm(q, Names, r.list('[', func() error {
			name, err := r.string(perNode)
			q.Names = append(q.Names, name)
			return err
		}))},
	)()
	if err == nil {
		err = r.atEnd()
	}
	if err == nil && !hasPod {
		err = errors.New("field Pod is missing")
	}
	if err != nil {
		return nil, err
	}
	return q, nil
}

// inForm reads a list of nodes, which gives q its form unless it is null.
func (r *reader) inForm(q *Request, form Form, list value) value {
	return func() error {
		if r.json.PeekKind() != 'n' {
			if q.Form != Neither {
				return errors.New("the request has both Nodes and NodeNames: send one of them")
			}
			q.Form = form
		}
		return list()
	}
}

// node reads a full node. Null is one without a name, as encoding/json has it.
func (r *reader) node(q *Request) value {
	var name string
	object := r.object(field{"metadata", r.object(field{"name", r.text(&name)})})
	return func() error {
		var at span
		name = ""
		if err := r.within(&at, object)(); err != nil {
			return err
		}
		q.nodes, q.Names = append(q.nodes, at), append(q.Names, name)
		return r.take(perNode)
	}
}

// annotations keeps them all. One that is given twice is refused like any other
// member that counts.
func (r *reader) annotations(into *map[string]string) value {
	return func() error {
		all := make(map[string]string)
		*into = all
		return r.list('{', func() error {
			name, err := r.key(longestName)
			if err == nil {
				err = r.take(perAnnotation + perByte*int64(len(name)))
			}
			if err != nil {
				return err
			}
			key := string(name)
			if _, twice := all[key]; twice {
				return r.wrong("is given twice")
			}
			all[key], err = r.string(0)
			return err
		})()
	}
}
