package wire

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// What a request takes beside its body, in bytes, and rather more than less: for
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
	r := &reader{
		json: jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		take: take, request: &Request{body: body},
	}
	if err := r.object(argsFields); err != nil {
		return nil, err
	}
	if err := r.atEnd(); err != nil {
		return nil, err
	}
	if !r.hasPod {
		return nil, errors.New("field Pod is missing")
	}
	return r.request, nil
}

// The members that count, of each object on the way to them.
var (
	argsFields        = []field{{[]byte("Pod"), (*reader).pod}, {[]byte("Nodes"), (*reader).nodeList}, {[]byte("NodeNames"), (*reader).nodeNames}}
	podFields         = []field{{[]byte("metadata"), (*reader).podMetadata}}
	podMetadataFields = []field{{[]byte("name"), (*reader).podName}, {[]byte("namespace"), (*reader).podNamespace}, {[]byte("annotations"), (*reader).annotations}}
	nodeListFields    = []field{{[]byte("items"), (*reader).items}}
	nodeFields        = []field{{[]byte("metadata"), (*reader).nodeMetadata}}
	nodeMetaFields    = []field{{[]byte("name"), (*reader).nodeName}}
)

func (r *reader) pod() error {
	r.hasPod = r.json.PeekKind() != 'n'
	return r.object(podFields)
}

func (r *reader) podMetadata() error { return r.object(podMetadataFields) }

func (r *reader) podName() (err error) {
	r.request.Pod.Name, err = r.text(0)
	return err
}

func (r *reader) podNamespace() (err error) {
	r.request.Pod.Namespace, err = r.text(0)
	return err
}

// annotations keeps them all. One that is given twice is refused like any other
// member that counts.
func (r *reader) annotations() error {
	all := make(map[string]string)
	r.request.Pod.Annotations = all
	return r.list('{', "an object", func() error {
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
		all[key], err = r.text(0)
		return err
	})
}

// found notes that there is a list of nodes, unless the next value is null.
func (r *reader) found(form Form) {
	switch {
	case r.json.PeekKind() == 'n':
	case r.request.Form != Neither:
		r.request.Form = Both
	default:
		r.request.Form = form
	}
}

func (r *reader) nodeList() error {
	r.found(Full)
	start := r.next()
	err := r.object(nodeListFields)
	r.request.list = span{start, r.passed()}
	return err
}

func (r *reader) items() error {
	start := r.next()
	err := r.list('[', "an array", r.node)
	r.request.items = span{start, r.passed()}
	return err
}

// node reads a full node. Null is one without a name, as encoding/json has it.
func (r *reader) node() error {
	start := r.next()
	r.name = ""
	if err := r.object(nodeFields); err != nil {
		return err
	}
	r.request.nodes = append(r.request.nodes, span{start, r.passed()})
	r.request.Names = append(r.request.Names, r.name)
	return r.take(perNode)
}

func (r *reader) nodeMetadata() error { return r.object(nodeMetaFields) }

func (r *reader) nodeName() (err error) {
	r.name, err = r.text(0)
	return err
}

func (r *reader) nodeNames() error {
	r.found(Names)
	return r.list('[', "an array", func() error {
		name, err := r.text(perNode)
		r.request.Names = append(r.request.Names, name)
		return err
	})
}
