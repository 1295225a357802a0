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

// Bounds of what the decoder keeps while it reads: the names on the way to where it
// is, all of which its errors carry. In Kubernetes' objects names have some
// hundreds of bytes, in some ten levels.
const (
	longestName = 4096 // bytes in the JSON, quotation marks included
	deepest     = 100
)

// Why a body is refused though it may be JSON: no kube-scheduler sends such.
var (
	ErrLongName = fmt.Errorf("the name of a member takes more than %d bytes", longestName)
	ErrTooDeep  = fmt.Errorf("there are more than %d levels of lists and objects", deepest)
)

// reader walks the JSON of a body that is there as a whole.
type reader struct {
	json *jsontext.Decoder
	body []byte
	take func(int64) error
}

// value reads the next value, all of it.
type value func() error

// field is a member that counts, in any case of letters.
type field struct {
	name string
	read value
}

// object reads an object, or null as one without members.
func (r *reader) object(fields ...field) value {
	seen := 0 // a bit for each
	members := r.list('{', func() error {
		key, err := r.key(longestName)
		if err != nil {
			return err
		}
		name := string(key)
		for i, field := range fields {
			if !strings.EqualFold(name, field.name) {
				continue
			}
			if seen&(1<<i) != 0 {
				return r.wrong("is given twice")
			}
			seen |= 1 << i
			return field.read()
		}
		return r.skip()
	})
	return func() error {
		seen = 0
		return members()
	}
}

// list reads an object or an array, or null as an empty one. item reads each
// element, or each key and its value.
func (r *reader) list(begin jsontext.Kind, item value) value {
	return func() error {
		null, err := r.begin(begin)
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
}

// within reads a value, and notes where it lies.
func (r *reader) within(at *span, read value) value {
	return func() error {
		start := r.next()
		err := read()
		*at = span{start, r.passed()}
		return err
	}
}

// text reads a string.
func (r *reader) text(into *string) value {
	return func() (err error) {
		*into, err = r.string(0)
		return err
	}
}

var kinds = map[jsontext.Kind]string{'{': "an object", '[': "an array", '"': "a string"}

// begin looks at whether the next value is of a kind, and passes a null.
func (r *reader) begin(kind jsontext.Kind) (null bool, err error) {
	switch r.json.PeekKind() {
	case kind:
		return false, nil
	case 'n', 0:
		_, err := r.json.ReadToken()
		return true, r.syntax(err)
	}
	return false, r.wrong("want " + kinds[kind])
}

// key reads the key of a member, of at most so many bytes in the JSON. It is good
// until the next call.
func (r *reader) key(longest int) ([]byte, error) {
	key, err := r.json.ReadValue()
	if err != nil {
		return nil, r.syntax(err)
	}
	if len(key) > longest {
		return nil, fmt.Errorf("byte %d: %w", r.passed()-len(key), ErrLongName)
	}
	if inside := key[1 : len(key)-1]; isPlain(inside) {
		return inside, nil
	}
	if err := r.take(perByteDecoded * int64(len(key))); err != nil {
		return nil, err
	}
	key, _ = jsontext.AppendUnquote(nil, key)
	return key, nil
}

// isPlain reports whether what stands between quotes is the string itself.
func isPlain(s []byte) bool {
	for _, b := range s {
		if b < ' ' || b >= 0x7f || b == '\\' {
			return false
		}
	}
	return true
}

// string reads a string, or null as the empty one, and decodes it as
// encoding/json does. extra is the memory that it takes but for its bytes.
func (r *reader) string(extra int64) (string, error) {
	null, err := r.begin('"')
	var text []byte
	if err == nil && !null {
		text, err = r.key(math.MaxInt)
	}
	if err == nil {
		err = r.take(extra + perByte*int64(len(text)))
	}
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// skip passes a value that nobody looks at, token by token: read as one it would
// recurse, and nobody would see the names in it.
func (r *reader) skip() error {
	outside := r.json.StackDepth()
	for {
		before := r.passed()
		if _, err := r.json.ReadToken(); err != nil {
			return r.syntax(err)
		}
		depth := r.json.StackDepth()
		if depth > deepest {
			return fmt.Errorf("byte %d: %w", before, ErrTooDeep)
		}
		if r.passed()-before > longestName && r.isLongName(before) {
			return fmt.Errorf("byte %d: %w", before, ErrLongName)
		}
		if depth <= outside {
			return nil
		}
	}
}

// isLongName looks at the token that begins at an offset, or after blanks there.
func (r *reader) isLongName(from int) bool {
	token := bytes.TrimLeft(r.body[from:r.passed()], " \t\r\n,")
	in, length := r.json.StackIndex(r.json.StackDepth())
	return in == '{' && length%2 == 1 && len(token) > longestName
}

// passed is the offset after what was passed; next is that of the next value.
func (r *reader) passed() int { return int(r.json.InputOffset()) }

func (r *reader) next() int {
	return len(r.body) - len(bytes.TrimLeft(r.body[r.passed():], " \t\r\n,:"))
}

// atEnd returns an error unless only white space is left.
func (r *reader) atEnd() error {
	if left := bytes.TrimLeft(r.body[r.passed():], " \t\r\n"); len(left) > 0 {
		return fmt.Errorf("byte %d: there is something after the end of the value", len(r.body)-len(left))
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
	return fmt.Errorf("%sbyte %d: the text ends too early", place(r.json.StackPointer()), len(r.body))
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
