package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// reader walks the JSON of a body that is there as a whole.
type reader struct {
	json    *jsontext.Decoder
	take    func(int64) error
	request *Request
	hasPod  bool
	name    string // of the node that is being read
}

// field is a member that counts, in any case of letters. read passes its value.
type field struct {
	name []byte
	read func(*reader) error
}

// object passes an object, or null as one without members.
func (r *reader) object(fields []field) error {
	seen := 0 // a bit for each
	return r.list('{', "an object", func() error {
		key, err := r.key(longestName)
		if err != nil {
			return err
		}
		for i, field := range fields {
			if !bytes.EqualFold(key, field.name) {
				continue
			}
			if seen&(1<<i) != 0 {
				return r.wrong("is given twice")
			}
			seen |= 1 << i
			return field.read(r)
		}
		return r.skip()
	})
}

// list passes an object or an array, or null as an empty one. item passes each
// element, or each key and its value.
func (r *reader) list(begin jsontext.Kind, wanted string, item func() error) error {
	null, err := r.begin(begin, wanted)
	if null || err != nil {
		return err
	}
	if _, err := r.json.ReadToken(); err != nil {
		return r.syntax(err)
	}
	for {
		switch r.json.PeekKind() {
		case '}', ']', 0:
			_, err := r.json.ReadToken()
			return r.syntax(err)
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// begin looks at whether the next value is of a kind, and passes a null.
func (r *reader) begin(kind jsontext.Kind, wanted string) (null bool, err error) {
	switch r.json.PeekKind() {
	case kind:
		return false, nil
	case 'n', 0:
		_, err := r.json.ReadToken()
		return true, r.syntax(err)
	}
	return false, r.wrong("want " + wanted)
}

// key passes the key of a member, of at most so many bytes in the JSON. It is good
// until the next call.
func (r *reader) key(longest int) ([]byte, error) {
	key, err := r.json.ReadValue()
	switch {
	case err != nil:
		return nil, r.syntax(err)
	case len(key) > longest:
		return nil, fmt.Errorf("byte %d: %w", r.passed()-len(key), ErrLongName)
	}
	if isPlain(key[1 : len(key)-1]) {
		return key[1 : len(key)-1], nil
	}
	if err := r.take(perByteDecoded * int64(len(key))); err != nil {
		return nil, err
	}
	key, _ = jsontext.AppendUnquote(nil, key)
	return key, nil
}

// text passes a string, or null as the empty one, and decodes it as
// encoding/json does. beside is the memory that it takes but for its bytes.
func (r *reader) text(beside int64) (string, error) {
	null, err := r.begin('"', "a string")
	var text []byte
	if err == nil && !null {
		text, err = r.key(math.MaxInt)
	}
	if err == nil {
		err = r.take(beside + perByte*int64(len(text)))
	}
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// isPlain reports whether a string is its own JSON encoding, but for quotes.
func isPlain(s []byte) bool {
	for _, b := range s {
		if b < ' ' || b >= 0x7f || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}

// passed is the offset after what was passed; next is that of the next value.
func (r *reader) passed() int { return int(r.json.InputOffset()) }

func (r *reader) next() int {
	rest := r.request.body[r.passed():]
	return len(r.request.body) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

// atEnd returns an error unless only white space is left.
func (r *reader) atEnd() error {
	if left := bytes.TrimLeft(r.request.body[r.passed():], " \t\r\n"); len(left) > 0 {
		return fmt.Errorf("byte %d: there is something after the end of the value", len(r.request.body)-len(left))
	}
	return nil
}

// wrong says what is wrong with the next value, and where it is.
func (r *reader) wrong(what string) error {
	at := r.next()
	if err := r.skip(); err != nil { // or the place would be that of the value before
		return err
	}
	return fmt.Errorf("%sbyte %d: %s", place(r.json.StackPointer()), at, what)
}

// syntax says where the body stops being JSON, if so.
func (r *reader) syntax(err error) error {
	var wrong *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%sbyte %d: %w", place(wrong.JSONPointer), wrong.ByteOffset, wrong.Err)
	}
	return fmt.Errorf("%sbyte %d: the text ends too early", place(r.json.StackPointer()), len(r.request.body))
}

// place is a path as a message has it, Nodes.items.0.metadata.name, up to some
// length: keys are as long as the sender likes.
func place(p jsontext.Pointer) string {
	if p == "" {
		return ""
	}
	path := strings.Join(slices.Collect(p.Tokens()), ".")
	const most = 400
	if len(path) > most {
		path = path[:most] + "…"
	}
	return path + ": "
}
