package abi

import "encoding/binary"

// What of a module's binary counts here.
const (
	moduleHeader = 8 // bytes: magic and version
	sectionCode  = 10
	opNop        = 0x01
	opEnd        = 0x0b
	opReturn     = 0x0f
	opI32Const   = 0x41
	opI64Const   = 0x42
)

// bodies are the bodies of the functions that a valid module defines, in their order.
func bodies(wasm []byte) (bodies [][]byte) {
	for r := (reader{wasm[moduleHeader:]}); len(r.rest) > 0; {
		id := r.byte()
		section := reader{r.sized()}
		if id != sectionCode {
			continue
		}
		for range section.uint() {
			bodies = append(bodies, section.sized())
		}
	}
	return bodies
}

// constant is what a function returns that has one constant for a body, or nothing
// at all. Guests on the SDK export every hook, and those that they do not implement
// are such.
func constant(body []byte) (value uint64, ok bool) {
	r := reader{body}
	if r.uint() != 0 { // locals
		return 0, false
	}
	pushed := false
	for {
		op := r.byte()
		switch {
		case op == opNop:
		case op == opReturn:
			return value, true // what follows is not reached
		case op == opEnd:
			return value, len(r.rest) == 0
		case pushed:
			return 0, false
		case op == opI32Const:
			pushed, value = true, uint64(uint32(r.int()))
		case op == opI64Const:
			pushed, value = true, uint64(r.int())
		default:
			return 0, false
		}
	}
}

// reader reads the binary of a module that wazero has found to be valid.
type reader struct{ rest []byte }

func (r *reader) byte() byte {
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// sized reads bytes that follow their number.
func (r *reader) sized() []byte {
	size := r.uint()
	b := r.rest[:size]
	r.rest = r.rest[size:]
	return b
}

// uint reads an unsigned LEB128.
func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	r.rest = r.rest[n:]
	return v
}

// int reads a signed LEB128.
func (r *reader) int() (v int64) {
	for shift := 0; ; {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if shift += 7; b&0x80 == 0 {
			unused := max(0, 64-shift)
			return v << unused >> unused // extends the sign
		}
	}
}
