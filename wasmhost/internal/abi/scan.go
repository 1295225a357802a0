package abi

import "encoding/binary"

// The sections of a module's binary, and the instructions, that count here. Their
// numbers are those of the WebAssembly core specification 2.0, chapter 5.
const (
	moduleHeader = 8 // bytes: magic and version

	sectionCustom   = 0
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionTable    = 4
	sectionMemory   = 5
	sectionGlobal   = 6
	sectionExport   = 7
	sectionStart    = 8
	sectionElement  = 9
	sectionCode     = 10
	sectionData     = 11

	opUnreachable  = 0x00
	opNop          = 0x01
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opI32Eqz       = 0x45
	opI32Sub       = 0x6b
	opRefFunc      = 0xd2
	opBulk         = 0xfc
	opVector       = 0xfd
)

// reader reads the binary of a module. Past its end, or at what is no number, it is bad,
// and reads zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) fail() {
	r.rest, r.bad = nil, true
}

func (r *reader) more() bool { return len(r.rest) > 0 }

func (r *reader) byte() byte {
	if !r.more() {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// bytes reads so many bytes.
func (r *reader) bytes(size uint64) []byte {
	if size > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	b := r.rest[:size:size]
	r.rest = r.rest[size:]
	return b
}

// sized reads bytes that follow their number.
func (r *reader) sized() []byte { return r.bytes(r.uint()) }

// uint reads an unsigned LEB128.
func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// uints passes over so many unsigned LEB128.
func (r *reader) uints(count uint64) {
	for ; count > 0 && !r.bad; count-- {
		r.uint()
	}
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

// instruction is one of a function's body.
type instruction struct {
	op      byte
	sub     uint64 // of opBulk and opVector, which are prefixes
	index   uint64 // of the function of opCall and opRefFunc, of the signature of opCallIndirect
	targets uint64 // of opBrTable, but for the last
	block   int64  // what opBlock, opLoop and opIf leave: a signature, or below zero
}

// instruction reads an instruction. One that is not of WebAssembly 2.0 is bad.
func (r *reader) instruction() (i instruction) {
	i.op = r.byte()
	switch op := i.op; {
	case op == opBlock, op == opLoop, op == opIf:
		i.block = r.int()
	case op == opI32Const, op == opI64Const:
		r.int()
	case op == opCall, op == opRefFunc:
		i.index = r.uint()
	case op == opCallIndirect:
		i.index = r.uint()
		r.uint() // the table
	case op == opBrTable:
		i.targets = r.uint()
		r.uints(i.targets + 1)
	case op == 0x1c: // select of a type
		r.bytes(r.uint())
	case op >= 0x28 && op <= 0x3e: // reads and writes of memory
		r.uints(2)
	case op == opBr, op == opBrIf, op >= 0x20 && op <= 0x26, op == 0x3f, op == opMemoryGrow, op == 0xd0:
		r.uint() // jumps, locals, globals, tables, memory.size, ref.null
	case op == 0x43: // f32.const
		r.bytes(4)
	case op == 0x44: // f64.const
		r.bytes(8)
	case op == opBulk:
		i.sub = r.uint()
		r.uints(bulkOperands(i.sub))
	case op == opVector:
		i.sub = r.uint()
		r.vectorOperands(i.sub)
	case op <= opNop, op == opElse, op == opEnd, op == opReturn, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
	default:
		r.fail()
	}
	return i
}

// The instructions behind opBulk.
const (
	bulkMemoryInit = 8
	bulkMemoryCopy = 10
	bulkMemoryFill = 11
	bulkTableInit  = 12
	bulkTableCopy  = 14
	bulkTableGrow  = 15
	bulkTableSize  = 16
	bulkTableFill  = 17
)

func bulkOperands(sub uint64) uint64 {
	switch {
	case sub < bulkMemoryInit: // conversions
		return 0
	case sub == bulkMemoryInit, sub == bulkMemoryCopy, sub == bulkTableInit, sub == bulkTableCopy:
		return 2
	}
	return 1
}

func (r *reader) vectorOperands(sub uint64) {
	switch {
	case sub <= 11, sub == 92, sub == 93: // loads and stores
		r.uints(2)
	case sub == 12, sub == 13: // v128.const, i8x16.shuffle
		r.bytes(16)
	case sub >= 21 && sub <= 34: // a lane
		r.byte()
	case sub >= 84 && sub <= 91: // loads and stores of a lane
		r.uints(2)
		r.byte()
	}
}

// expression passes over a constant expression, and reports the functions it refers to.
func (r *reader) expression(refers func(function uint64)) {
	for !r.bad {
		switch i := r.instruction(); i.op {
		case opRefFunc:
			refers(i.index)
		case opEnd:
			return
		}
	}
}
