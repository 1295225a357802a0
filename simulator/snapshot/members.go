package snapshot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// member is one of a JSON object.
type member struct {
	raw  json.RawMessage
	list []json.RawMessage // its elements, if it is a list
}

// membersOf takes a document apart without decoding it. most bounds how many elements
// the lists in it have, at whatever depth; an object of a snapshot counts as several.
func membersOf(document []byte, most int) (of map[string]member, err error) {
	w := &walk{
		json:     jsontext.NewDecoder(bytes.NewBuffer(document), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		document: document, most: most,
	}
	if begin, err := w.json.ReadToken(); err != nil || begin.Kind() != '{' {
		return nil, cmp.Or(err, errors.New("it is no object"))
	}
	of = map[string]member{}
	for w.json.PeekKind() == '"' {
		name, err := w.json.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if of[key], err = w.member(); err != nil {
			return nil, err
		}
		if err := w.bounded(); err != nil {
			return nil, err
		}
	}
	_, err = w.json.ReadToken()
	return of, err
}

// walk goes through a document once.
type walk struct {
	json           *jsontext.Decoder
	document       []byte
	elements, most int
}

// anObject is as how many elements of lists an object of a snapshot counts: by memory.
const anObject = 4

func (w *walk) member() (m member, err error) {
	start := w.next()
	if w.json.PeekKind() != '[' {
		m.raw, err = w.value()
		return m, err
	}
	if _, err := w.json.ReadToken(); err != nil {
		return m, err
	}
	for w.json.PeekKind() != ']' {
		element, err := w.value()
		if err != nil {
			return m, err
		}
		m.list = append(m.list, element)
		w.elements += anObject
		if err := w.bounded(); err != nil {
			return m, err
		}
	}
	_, err = w.json.ReadToken()
	m.raw = json.RawMessage(w.document[start:w.json.InputOffset()])
	return m, err
}

func (w *walk) bounded() error {
	if w.elements > w.most {
		return tooLarge("%d elements in lists", w.most)
	}
	return nil
}

// value passes a value, and counts the elements of lists in it.
func (w *walk) value() (json.RawMessage, error) {
	start, depth := w.next(), w.json.StackDepth()
	for {
		if w.json.PeekKind() == ']' {
			_, elements := w.json.StackIndex(w.json.StackDepth())
			w.elements += int(elements)
		}
		if _, err := w.json.ReadToken(); err != nil {
			return nil, err
		}
		if w.json.StackDepth() == depth {
			return json.RawMessage(w.document[start:w.json.InputOffset()]), nil
		}
	}
}

// next is where the next value begins.
func (w *walk) next() int64 {
	rest := w.document[w.json.InputOffset():]
	return int64(len(w.document) - len(bytes.TrimLeft(rest, " \t\r\n:,")))
}
