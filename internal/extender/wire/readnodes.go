package wire

import (
	"bytes"
	"fmt"
	"slices"
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
		return at(fmt.Sprint("[", len(r.memory.nodes), "]"), err)
	}
	r.memory.nodes = append(r.memory.nodes, span{start, r.Pos()})
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
	name, plain, err := r.text()
	r.names.add(name)
	r.request.plain = r.request.plain && plain
	return err
}

// nodeNames reads the list of names. Plain names share one string, a copy of
// the text that they are in.
func (r *reader) nodeNames() error {
	if r.Null() {
		return nil
	}
	r.found(Names)
	start := r.Pos()
	names := r.memory.names[:0]
	err := r.Array(func() (err error) {
		if more := r.plainNames(names); len(more) > len(names) {
			names = more
			return nil
		}
		name, plain, err := r.text()
		if err != nil {
			return at(fmt.Sprint("[", len(names), "]"), err)
		}
		r.request.plain = r.request.plain && plain
		names = append(names, string(name))
		return nil
	})
	r.memory.names = names
	r.request.nameBytes = r.Pos() - start
	r.request.quoted = len(names) > 0 && len(r.memory.offsets) == 2*len(names)
	return err
}

// plainNames appends the plain names that come next, if any do.
func (r *reader) plainNames(names []string) []string {
	r.Kind() // passes white space
	text, start := r.Rest(), uint32(r.Pos())
	r.memory.offsets = r.PlainStrings(r.memory.offsets[:0])
	all := string(text[:r.Pos()-int(start)])
	names = slices.Grow(names, len(r.memory.offsets)/2)
	for i := 0; i < len(r.memory.offsets); i += 2 {
		names = append(names, all[r.memory.offsets[i]-start:r.memory.offsets[i+1]-start])
	}
	return names
}
