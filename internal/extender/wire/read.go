package wire

import (
	"bytes"
	"errors"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/rawjson"
)

// Read reads an ExtenderArgs. The error names the member at fault. It keeps
// body, which must not change as long as the Request is in use.
func Read(body []byte) (*Request, error) {
	return ReadArriving(func(int) []byte { return body })
}

// ReadArriving reads an ExtenderArgs that is still arriving: wait is that of
// rawjson.Arriving.
func ReadArriving(wait func(n int) []byte) (*Request, error) {
	m := memories.Get().(*memory)
	m.nodes = m.nodes[:0]
	r := &reader{Cursor: rawjson.Arriving(wait), memory: m, request: &Request{plain: true, memory: m}}
	var pod, nodes, names once
	err := r.Object(func(key []byte) error {
		switch {
		case bytes.EqualFold(key, []byte("Pod")):
			return pod.in("Pod", r.readPod)
		case bytes.EqualFold(key, []byte("Nodes")):
			return nodes.in("Nodes", r.nodeList)
		case bytes.EqualFold(key, []byte("NodeNames")):
			return names.in("NodeNames", r.nodeNames)
		}
		return r.Skip()
	})
	if err == nil {
		err = r.End()
	}
	if err == nil && r.pod.end == 0 {
		err = errors.New("field Pod is missing")
	}
	if err != nil {
		r.request.Release()
		return nil, err
	}
	r.finish(wait(0))
	return r.request, nil
}

// reader walks a body and fills a request.
type reader struct {
	*rawjson.Cursor
	request *Request
	memory  *memory // the request's
	pod     span
	names   arena // of the full nodes
}

func (r *reader) finish(body []byte) {
	r.request.body = body
	r.request.Pod.Raw = r.request.bytes(r.pod)
	if r.request.Form == Full {
		r.memory.names = r.names.appendTo(r.memory.names[:0])
		r.request.nameBytes = r.names.text.Len()
		r.request.Raw = r.request.rawNode
	}
	if r.request.Form != Neither {
		r.request.Names = r.memory.names
	}
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

// text reads a string, or null as the empty one.
func (r *reader) text() (text []byte, plain bool, err error) {
	if r.Null() {
		return nil, true, nil
	}
	return r.String()
}

// textInto reads a string into s.
func (r *reader) textInto(s *string) func() error {
	return func() error {
		text, _, err := r.text()
		*s = string(text)
		return err
	}
}
