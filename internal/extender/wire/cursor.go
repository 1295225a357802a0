package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// cursor walks the JSON of a body that is there as a whole, and accounts for
// the strings that it hands out.
type cursor struct {
	account
	body    []byte
	decoder *jsontext.Decoder
}

// newCursor returns a cursor that takes what encoding/json takes.
func newCursor(body []byte, take func(int64) error) cursor {
	return cursor{account{take: take}, body, jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// pos is the offset of the next value, or of the end of the container.
func (c *cursor) pos() int {
	i := int(c.decoder.InputOffset())
	for i < len(c.body) && strings.IndexByte(" \t\r\n,:", c.body[i]) >= 0 {
		i++
	}
	return i
}

// end is the offset after the last value.
func (c *cursor) end() int { return int(c.decoder.InputOffset()) }

// syntax says where the body stops being JSON.
func (c *cursor) syntax(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("byte %d: the text ends too early", len(c.body))
	}
	var wrong *jsontext.SyntacticError
	if errors.As(err, &wrong) {
		return fmt.Errorf("byte %d: %w", wrong.ByteOffset, wrong.Err)
	}
	return err
}

// want reports whether the next value is of a kind, and if not, what is wrong.
func (c *cursor) want(kind jsontext.Kind, wanted string) error {
	switch c.decoder.PeekKind() {
	case kind:
		return nil
	case 0:
		_, err := c.decoder.ReadToken()
		return c.syntax(err)
	}
	return fmt.Errorf("byte %d: want %s", c.pos(), wanted)
}

func (c *cursor) skip() error { return c.syntax(c.decoder.SkipValue()) }

// null passes a null and reports whether there was one.
func (c *cursor) null() bool {
	if c.decoder.PeekKind() != 'n' {
		return false
	}
	_, err := c.decoder.ReadToken()
	return err == nil
}

// object enters the next value, which must be an object, and calls member for
// each member, which must pass its value. The key is good only during the call.
func (c *cursor) object(member func(key []byte) error) error {
	return c.list('{', '}', "an object", func() error {
		key, err := c.decoder.ReadValue()
		if err != nil {
			return c.syntax(err)
		}
		name, _, err := c.content(key)
		if err != nil {
			return err
		}
		return member(name)
	})
}

// array enters the next value, which must be an array, and calls element for
// each of its elements, which element must pass.
func (c *cursor) array(element func() error) error {
	return c.list('[', ']', "an array", element)
}

func (c *cursor) list(begin, end jsontext.Kind, wanted string, item func() error) error {
	err := c.want(begin, wanted)
	if err != nil {
		return err
	}
	for _, err = c.decoder.ReadToken(); err == nil && c.decoder.PeekKind() != end; {
		if err := item(); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = c.decoder.ReadToken()
	}
	return c.syntax(err)
}

// text reads a string, or null as the empty one. Plain means that the content
// is its own encoding; it is then part of the body.
func (c *cursor) text() (text []byte, plain bool, err error) {
	if c.null() {
		return nil, true, nil
	}
	if err := c.want('"', "a string"); err != nil {
		return nil, false, err
	}
	value, err := c.decoder.ReadValue()
	if err != nil {
		return nil, false, c.syntax(err)
	}
	if text, plain, err = c.content(value); err == nil {
		err = c.owe(perByte * int64(len(text)))
	}
	return text, plain, err
}

// content decodes a string as encoding/json does.
func (c *cursor) content(value []byte) (text []byte, plain bool, err error) {
	if text := value[1 : len(value)-1]; isPlain(text) {
		return text, true, nil
	}
	if err := c.owe(perByteDecoded * int64(len(value))); err != nil {
		return nil, false, err
	}
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		panic(err) // the decoder has found it valid
	}
	return []byte(s), false, nil
}

// rest returns an error unless only white space is left.
func (c *cursor) rest() error {
	if left := bytes.TrimLeft(c.body[c.end():], " \t\r\n"); len(left) > 0 {
		return fmt.Errorf("byte %d: there is something after the end of the value", len(c.body)-len(left))
	}
	return nil
}
