package wire

import (
	"bytes"
	"fmt"
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
	var name []byte
	if !r.Null() {
		err := r.Object(func(key []byte) error {
			if bytes.EqualFold(key, []byte("metadata")) {
				return metadata.in("metadata", func() (err error) {
					name, err = r.nodeMetadata()
					return err
				})
			}
			return r.Skip()
		})
		if err != nil {
			return err
		}
	}
	r.name(name)
	return nil
}

func (r *reader) nodeMetadata() (name []byte, err error) {
	if r.Null() {
		return nil, nil
	}
	var once once
	err = r.Object(func(key []byte) error {
		if bytes.EqualFold(key, []byte("name")) {
			return once.in("name", func() (err error) {
				name, err = r.text()
				return err
			})
		}
		return r.Skip()
	})
	return name, err
}

// nodeNames reads the list of names.
func (r *reader) nodeNames() error {
	if r.Null() {
		return nil
	}
	r.found(Names)
	r.names.grow(len(r.request.body) - r.Pos())
	n := 0
	return r.Array(func() error {
		name, err := r.text()
		if err != nil {
			return at(fmt.Sprint("[", n, "]"), err)
		}
		n++
		r.name(name)
		return nil
	})
}

// name takes the next name.
func (r *reader) name(name []byte) {
	r.names.add(name)
	r.request.plain = r.request.plain && isPlain(name)
}
