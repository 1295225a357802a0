package wire

import (
	"bytes"
	"errors"
	"strings"
)

// Read reads an ExtenderArgs. The error names the member at fault, or is that
// of take, which is asked for what memory the request takes, answer and
// algorithms included, before it does. It keeps body, which must not change as
// long as the Request is in use.
func Read(body []byte, take func(bytes int64) error) (*Request, error) {
	m := memories.Get().(*memory)
	m.arena.reset()
	m.nodes = m.nodes[:0]
	r := &reader{cursor: newCursor(body, take), memory: m, request: &Request{body: body, plain: true, memory: m}}
	err := r.read()
	if err == nil {
		err = r.pay()
	}
	if r.refused != nil {
		err = r.refused
	}
	if err != nil {
		r.request.Release()
		return nil, err
	}
	r.finish()
	return r.request, nil
}

// reader walks a body and fills a request.
type reader struct {
	cursor
	request *Request
	memory  *memory // the request's
	pod     span
}

func (r *reader) read() error {
	var pod, nodes, names once
	err := r.object(func(key []byte) error {
		switch {
		case bytes.EqualFold(key, []byte("Pod")):
			return pod.in("Pod", r.readPod)
		case bytes.EqualFold(key, []byte("Nodes")):
			return nodes.in("Nodes", r.nodeList)
		case bytes.EqualFold(key, []byte("NodeNames")):
			return names.in("NodeNames", r.nodeNames)
		}
		return r.skip()
	})
	if err == nil {
		err = r.rest()
	}
	if err == nil && r.pod.end == 0 {
		err = errors.New("field Pod is missing")
	}
	return err
}

func (r *reader) finish() {
	r.memory.names = r.memory.arena.appendTo(r.memory.names[:0])
	if r.request.Form != Neither {
		r.request.Names = r.memory.names
	}
}

// found notes that there is a list of nodes.
func (r *reader) found(form Form) {
	if r.request.Form != Neither {
		form = Both
	}
	r.request.Form = form
}

// name adds the name of a node.
func (r *reader) name(name []byte, plain bool) error {
	r.request.plain = r.request.plain && plain
	r.memory.arena.add(name)
	return r.owe(perNode)
}

// once refuses a member that is given twice.
type once bool

func (o *once) in(path string, read func() error) error {
	if *o {
		return &pathError{path: path, err: errors.New("is given twice")}
	}
	*o = true
	if err := read(); err != nil {
		return at(path, err)
	}
	return nil
}

// at puts a path in front of an error, which may begin with a path already.
func at(path string, err error) error {
	var inner *pathError
	if errors.As(err, &inner) {
		if !strings.HasPrefix(inner.path, "[") {
			path += "."
		}
		return &pathError{path: path + inner.path, err: inner.err}
	}
	return &pathError{path: path, err: err}
}

type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }
