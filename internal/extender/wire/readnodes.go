package wire

import (
	"bytes"
	"fmt"
)

// nodeList reads the full nodes.
func (r *reader) nodeList() error {
	if r.null() {
		return nil
	}
	r.found(Full)
	start := r.pos()
	var items once
	err := r.object(func(key []byte) error {
		if bytes.EqualFold(key, []byte("items")) {
			return items.in("items", r.items)
		}
		return r.skip()
	})
	r.request.envelope = span{start, r.end()}
	return err
}

func (r *reader) items() error {
	start := r.pos()
	if !r.null() {
		if err := r.array(r.item); err != nil {
			return err
		}
	}
	r.request.items = span{start, r.end()}
	return nil
}

func (r *reader) item() error {
	start := r.pos()
	if err := r.node(); err != nil {
		return at(fmt.Sprint("[", len(r.memory.nodes), "]"), err)
	}
	r.memory.nodes = append(r.memory.nodes, span{start, r.end()})
	return nil
}

// node reads the name of a node. Null is a node without one, as encoding/json
// has it.
func (r *reader) node() error {
	if r.null() {
		return r.name(nil, true)
	}
	var metadata once
	var name []byte
	plain := true
	err := r.object(func(key []byte) error {
		if bytes.EqualFold(key, []byte("metadata")) {
			return metadata.in("metadata", func() (err error) {
				name, plain, err = r.nodeMetadata()
				return err
			})
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	return r.name(name, plain)
}

func (r *reader) nodeMetadata() (name []byte, plain bool, err error) {
	plain = true
	if r.null() {
		return nil, plain, nil
	}
	var once once
	err = r.object(func(key []byte) error {
		if bytes.EqualFold(key, []byte("name")) {
			return once.in("name", func() (err error) {
				name, plain, err = r.text()
				return err
			})
		}
		return r.skip()
	})
	return name, plain, err
}

// nodeNames reads the list of names.
func (r *reader) nodeNames() error {
	if r.null() {
		return nil
	}
	r.found(Names)
	first := len(r.memory.arena.ends)
	return r.array(func() error {
		name, plain, err := r.text()
		if err != nil {
			return at(fmt.Sprint("[", len(r.memory.arena.ends)-first, "]"), err)
		}
		return r.name(name, plain)
	})
}
