package rawjson

import "strconv"

// MaxDepth is how deeply arrays and objects may nest, as in encoding/json.
const MaxDepth = 10000

// A Cursor stands before a value of a JSON text. The zero Cursor stands
// before nothing; make one with New. It never writes to the text.
type Cursor struct {
	data  []byte
	pos   int
	depth int // of the containers that Object and Array have entered

	wait func(n int) []byte // nil once everything is there
}

// New returns a Cursor at the start of data.
func New(data []byte) *Cursor { return &Cursor{data: data} }

// Arriving returns a Cursor at the start of a text that is still arriving.
// wait returns the text so far, as soon as that is n bytes long or the whole.
// What it has returned before must stay as it is.
func Arriving(wait func(n int) []byte) *Cursor { return &Cursor{data: wait(1), wait: wait} }

// more waits for more of the text, or returns false if this is all of it. It
// waits until there is twice as much of the value at the Cursor, so that what
// starts anew from there takes time linear in the text.
func (c *Cursor) more() bool {
	if c.wait == nil {
		return false
	}
	before := len(c.data)
	c.data = c.wait(before + max(1, before-c.pos))
	if len(c.data) < before+max(1, before-c.pos) {
		c.wait = nil // that was all
	}
	return len(c.data) > before
}

// Pos is the offset, in bytes, of the next unread byte.
func (c *Cursor) Pos() int { return c.pos }

// Rest is the text from Pos on, as far as it has arrived.
func (c *Cursor) Rest() []byte { return c.data[c.pos:] }

// A SyntaxError says where a text stops being JSON, or stops being the JSON
// that the caller wants.
type SyntaxError struct {
	Offset  int // of the byte at fault, from the start of the text
	Problem string
}

func (e *SyntaxError) Error() string {
	return "byte " + strconv.Itoa(e.Offset) + ": " + e.Problem
}

func (c *Cursor) fail(problem string) error { return failAt(c.data, c.pos, problem) }

func failAt(data []byte, pos int, problem string) error {
	if pos >= len(data) {
		return &SyntaxError{Offset: len(data), Problem: "the text ends too early"}
	}
	return &SyntaxError{Offset: pos, Problem: problem}
}

// Kind returns the first byte of the next value, after passing white space:
// one of { [ " - 0-9 t f n, or, where there is no value, some other byte or 0.
func (c *Cursor) Kind() byte {
	for {
		c.pos = skipSpace(c.data, c.pos)
		if c.pos < len(c.data) {
			return c.data[c.pos]
		}
		if !c.more() {
			return 0
		}
	}
}

// Null passes a null and reports whether there was one.
func (c *Cursor) Null() bool {
	if c.Kind() != 'n' {
		return false
	}
	end := skipLiteral(c.data, c.pos)
	for ^end == len(c.data) && c.more() {
		end = skipLiteral(c.data, c.pos)
	}
	if end < 0 {
		return false
	}
	c.pos = end
	return true
}

// Value passes the next value and returns its bytes, which are valid JSON
// without surrounding white space. They share memory with the text.
func (c *Cursor) Value() ([]byte, error) {
	c.Kind()
	start := c.pos
	if err := c.Skip(); err != nil {
		return nil, err
	}
	return c.data[start:c.pos:c.pos], nil
}

// End returns an error unless only white space is left.
func (c *Cursor) End() error {
	if c.Kind(); c.pos < len(c.data) {
		return c.fail("there is something after the end of the value")
	}
	return nil
}

// Object enters the next value, which must be an object, and calls member for
// each member with the Cursor standing before its value, which member must
// pass. The key is decoded and good only during the call.
func (c *Cursor) Object(member func(key []byte) error) error {
	if c.Kind() != '{' {
		return c.fail("want an object")
	}
	return c.list('}', "want , or } in an object", func() error {
		key, err := c.key()
		if err != nil {
			return err
		}
		return member(key)
	})
}

// Array enters the next value, which must be an array, and calls element with
// the Cursor standing before each of its elements, which element must pass.
func (c *Cursor) Array(element func() error) error {
	if c.Kind() != '[' {
		return c.fail("want an array")
	}
	return c.list(']', "want , or ] in an array", element)
}

// list passes a comma-separated list between brackets, the first of which is
// the next byte.
func (c *Cursor) list(closing byte, problem string, item func() error) error {
	if c.depth++; c.depth > MaxDepth {
		return c.fail("the text nests too deeply")
	}
	c.pos++
	if c.Kind() == closing {
		c.pos++
		c.depth--
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch c.Kind() {
		case ',':
			c.pos++
		case closing:
			c.pos++
			c.depth--
			return nil
		default:
			return c.fail(problem)
		}
	}
}

// key passes a member's name and colon.
func (c *Cursor) key() ([]byte, error) {
	key, _, err := c.String()
	if err != nil {
		return nil, err
	}
	if c.Kind() != ':' {
		return nil, c.fail("want : after the name of a member")
	}
	c.pos++
	return key, nil
}
