package wire

import (
	"bytes"
	"fmt"
	"strings"
)

// nodeList reads the full nodes.
func (r *reader) nodeList() error {
	if r.Null() {
		return nil
	}
	r.found(Full)
	start := r.Pos()
	var items once
	err := r.Object(func(key []byte) error {
		if bytes.EqualFold(key, []byte("items")) {
			return items.in("items", r.items)
		}
		return r.Skip()
	})
	r.request.envelope = span{start, r.Pos()}
	return err
}

func (r *reader) found(form Form) {
	if r.request.Form != Neither {
		form = Both
	}
	r.request.Form = form
}

func (r *reader) items() error {
	r.Kind() // passes white space
	start := r.Pos()
	if !r.Null() {
		if err := r.Array(r.item); err != nil {
			return err
		}
	}
	r.request.items = span{start, r.Pos()}
	return nil
}

func (r *reader) item() error {
	r.Kind()
	start := r.Pos()
	if err := r.node(); err != nil {
		return at(fmt.Sprint("[", len(r.request.nodes), "]"), err)
	}
	r.request.nodes = append(r.request.nodes, span{start, r.Pos()})
	return nil
}

// node reads the name of a node. Null is a node without one, as encoding/json
// has it.
func (r *reader) node() error {
	var metadata once
	named := false
	if !r.Null() {
		err := r.Object(func(key []byte) error {
			if bytes.EqualFold(key, []byte("metadata")) {
				return metadata.in("metadata", func() (err error) {
					named, err = r.nodeMetadata()
					return err
				})
			}
			return r.Skip()
		})
		if err != nil {
			return err
		}
	}
	if !named {
		r.names.add(nil)
	}
	return nil
}

func (r *reader) nodeMetadata() (named bool, err error) {
	if r.Null() {
		return false, nil
	}
	var once once
	err = r.Object(func(key []byte) error {
		if bytes.EqualFold(key, []byte("name")) {
			named = true
			return once.in("name", r.nodeName)
		}
		return r.Skip()
	})
	return named, err
}

func (r *reader) nodeName() error {
	if r.Null() {
		r.names.add(nil)
		return nil
	}
	name, plain, err := r.String()
	r.names.add(name)
	r.request.plain = r.request.plain && plain
	return err
}

// nodeNames reads the list of names. They share one string, a copy of the text
// from where the list begins, unless they are escaped.
func (r *reader) nodeNames() error {
	if r.Null() {
		return nil
	}
	r.found(Names)
	start, rest := r.Pos(), string(r.Rest())
	// As many as there are commas, but not more than twice the memory of the text.
	names := make([]string, 0, min(strings.Count(rest, ",")+1, len(rest)/8+1))
	err := r.Array(func() error {
		if r.Null() {
			names = append(names, "")
			return nil
		}
		name, plain, err := r.String()
		if err != nil {
			return at(fmt.Sprint("[", len(names), "]"), err)
		}
		if end := r.Pos() - 1 - start; plain && end < len(rest) {
			names = append(names, rest[end-len(name):end])
			return nil
		}
		r.request.plain = r.request.plain && plain
		names = append(names, string(name))
		return nil
	})
	r.request.Names = names
	return err
}
