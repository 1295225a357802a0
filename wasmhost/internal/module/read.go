package module

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// reader reads the binary of a module. After the first error it reads zeros.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.rest = nil
}

// end fails where something is left.
func (r *reader) end() {
	if len(r.rest) > 0 {
		r.fail("%d bytes after its end", len(r.rest))
	}
}

func (r *reader) bytes(size int) []byte {
	if size > len(r.rest) {
		r.fail("it is cut off")
		return nil
	}
	b := r.rest[:size:size]
	r.rest = r.rest[size:]
	return b
}

func (r *reader) byte() byte {
	b := r.bytes(1)
	if b == nil {
		return 0
	}
	return b[0]
}

// sized reads bytes that follow their number.
func (r *reader) sized() []byte { return r.bytes(r.int(math.MaxInt32, "bytes")) }

// text reads a name.
func (r *reader) text() string {
	b := r.sized()
	if !utf8.Valid(b) {
		r.fail("name %q is not UTF-8", b[:min(len(b), maxName)])
	}
	return string(b)
}

// name is a text that errors may quote.
func (r *reader) name() string {
	ahead := *r
	size := len(ahead.sized())
	if size > maxName {
		r.fail("a name of %d bytes, and at most %d are taken", size, maxName)
	}
	return r.text()
}

// uint reads an unsigned LEB128 of 32 bits.
func (r *reader) uint() (v uint32) {
	for shift := 0; shift < 32; shift += 7 {
		b := r.byte()
		if shift == 28 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail("an integer has more than 32 bits")
	return 0
}

// signed reads a signed LEB128 of so many bits, at most 64. What its last byte has beyond them is for wazero to check.
func (r *reader) signed(bits int) (v int64) {
	for shift := 0; shift < bits; {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			unused := max(0, 64-shift)
			return v << unused >> unused // extends the sign
		}
	}
	r.fail("an integer has more than %d bits", bits)
	return 0
}

// int reads an unsigned number that is bounded.
func (r *reader) int(most int, what string) int {
	n := r.uint()
	if uint64(n) > uint64(most) {
		r.fail("%d %s, and at most %d are taken", n, what, most)
		return 0
	}
	return int(n)
}

// count reads the length of a list, each entry of which takes at least a byte.
func (r *reader) count(most int, what string) int {
	n := r.int(most, what)
	if n > len(r.rest) {
		r.fail("%d %s in %d bytes", n, what, len(r.rest))
		return 0
	}
	return n
}

// index reads the index of one of so many things.
func (r *reader) index(of int, what string) int {
	n := r.uint()
	if int64(n) >= int64(of) {
		r.fail("index %d, but there are %d %s", n, max(of, 0), what)
		return 0
	}
	return int(n)
}

// oneOf reads one of some bytes, and returns the first of them where it is another one.
func (r *reader) oneOf(allowed, what string) byte {
	b := r.byte()
	if strings.IndexByte(allowed, b) < 0 {
		r.fail("%s 0x%x is not of WebAssembly 2.0", what, b)
		return allowed[0]
	}
	return b
}

// Types, each of one byte.
const (
	typeI32        = 0x7f
	typeNone       = 0x40 // of a block without a result
	typeFunction   = 0x60
	referenceTypes = "\x70\x6f"                              // funcref, externref
	valueTypes     = "\x7f\x7e\x7d\x7c\x7b" + referenceTypes // i32, i64, f32, f64, v128
)

// blockType reads a type of one byte, or the index of one of so many signatures.
func (r *reader) blockType(signatures int) {
	before := len(r.rest)
	t := r.signed(33)
	b := byte(t & 0x7f)
	isByte := t < 0 && before-len(r.rest) == 1
	switch {
	case isByte && (b == typeNone || strings.IndexByte(valueTypes, b) >= 0):
	case t < 0 || t >= int64(signatures):
		r.fail("type %d of a block", t)
	}
}

func (r *reader) globalType() {
	r.oneOf(valueTypes, "type")
	r.oneOf("\x00\x01", "mutability")
}

// limits reads the limits of a table or a memory.
func (r *reader) limits() (least, most int64) {
	flags := r.oneOf("\x00\x01", "kind of limits")
	least = int64(r.uint())
	most = math.MaxUint32
	if flags == 1 {
		most = int64(r.uint())
	}
	return least, most
}

type table struct {
	of          byte
	least, most int64 // entries
}

func (r *reader) table() (t table) {
	t.of = r.oneOf(referenceTypes, "type")
	t.least, t.most = r.limits()
	if t.least > t.most {
		r.fail("a table of at least %d entries, and of at most %d", t.least, t.most)
	}
	return t
}
