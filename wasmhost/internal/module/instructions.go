package module

// The instructions that count here, by the numbers of the WebAssembly core specification 2.0, chapter 5.4.
const (
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
	opSelect       = 0x1b
	opTypedSelect  = 0x1c
	opLocalGet     = 0x20
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opI32Load      = 0x28 // the first that reads memory
	opI32Store     = 0x36 // the first that writes it
	opI64Store32   = 0x3e // the last that does
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45 // the first without an immediate
	opI32LtS       = 0x48
	opI32Sub       = 0x6b
	opI32DivS      = 0x6d
	opI32RemU      = 0x70
	opI32ShrU      = 0x76
	opI64DivS      = 0x7f
	opI64RemU      = 0x82
	opF32Sqrt      = 0x91
	opF32Div       = 0x95
	opF64Sqrt      = 0x9f
	opF64Div       = 0xa3
	opI64Extend32S = 0xc4 // the last without an immediate
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opBulk         = 0xfc // and conversions
	opVector       = 0xfd
)

// Those behind opBulk.
const (
	bulkTruncLast  = 7
	bulkMemoryInit = 8
	bulkDataDrop   = 9
	bulkMemoryCopy = 10
	bulkMemoryFill = 11
	bulkTableInit  = 12
	bulkElemDrop   = 13
	bulkTableCopy  = 14
	bulkTableGrow  = 15
	bulkTableSize  = 16
	bulkTableFill  = 17
)

// Those behind opVector.
const (
	vectorStore      = 11 // the last of the loads and stores
	vectorConst      = 12
	vectorShuffle    = 13
	vectorFirstLane  = 21 // the first that reads or replaces a lane
	vectorLastLane   = 34
	vectorLoadLane   = 84 // the first that loads or stores a lane
	vectorStoreLane  = 91 // the last
	vectorLoadZero32 = 92
	vectorLoadZero64 = 93
)

type instruction struct {
	op    byte
	sub   byte // of opBulk
	index int  // of the function that opCall calls
}

// instruction reads an instruction of a function with so many local variables, within so many blocks. Of what it
// does not check, wazero checks the types.
func (m *module) instruction(r *reader, locals, blocks int) (i instruction) {
	i.op = r.byte()
	switch op := i.op; {
	case op == opUnreachable, op == opNop, op == opElse, op == opEnd, op == opReturn, op == opDrop, op == opSelect,
		op >= opI32Eqz && op <= opI64Extend32S, op == opRefIsNull:
	case op >= opBlock && op <= opIf:
		r.blockType(len(m.types))
	case op == opBr, op == opBrIf:
		r.index(blocks, "blocks")
	case op == opBrTable:
		for range r.count(maxFunction, "targets") + 1 { // and the default
			r.index(blocks, "blocks")
		}
	case op == opCall, op == opRefFunc:
		i.index = r.index(len(m.functions), "functions")
	case op == opCallIndirect:
		r.index(len(m.types), "types")
		r.index(len(m.tables), "tables")
	case op == opTypedSelect:
		if n := r.byte(); n != 1 {
			r.fail("a select of %d types", n)
		}
		r.valueType()
	case op >= opLocalGet && op <= opLocalTee:
		r.index(locals, "local variables")
	case op == opGlobalGet, op == opGlobalSet:
		r.index(m.globals, "globals")
	case op == opTableGet, op == opTableSet:
		r.index(len(m.tables), "tables")
	case op >= opI32Load && op <= opI64Store32:
		r.address()
	case op == opMemorySize, op == opMemoryGrow:
		r.reserved()
	case op == opBulk:
		i.sub = r.byte()
		m.bulk(r, i.sub)
	case op == opVector:
		r.vector()
	default:
		r.constant(op)
	}
	return i
}

// constant reads the immediate of an instruction that pushes a constant.
func (r *reader) constant(op byte) {
	switch op {
	case opI32Const:
		r.signed(32)
	case opI64Const:
		r.signed(64)
	case opF32Const:
		r.bytes(4)
	case opF64Const:
		r.bytes(8)
	case opRefNull:
		r.referenceType()
	default:
		r.fail("instruction 0x%x is not of WebAssembly 2.0", op)
	}
}

func (m *module) bulk(r *reader, sub byte) {
	switch sub {
	case bulkMemoryInit:
		r.index(m.dataCount, "counted segments of data")
		r.reserved()
	case bulkDataDrop:
		r.index(m.dataCount, "counted segments of data")
	case bulkMemoryCopy:
		r.reserved()
		r.reserved()
	case bulkMemoryFill:
		r.reserved()
	case bulkTableInit:
		r.index(m.elements, "segments of elements")
		r.index(len(m.tables), "tables")
	case bulkElemDrop:
		r.index(m.elements, "segments of elements")
	case bulkTableCopy:
		r.index(len(m.tables), "tables")
		r.index(len(m.tables), "tables")
	case bulkTableGrow, bulkTableSize, bulkTableFill:
		r.index(len(m.tables), "tables")
	default:
		if sub > bulkTruncLast {
			r.fail("instruction 0x%x 0x%x is not of WebAssembly 2.0", opBulk, sub)
		}
	}
}

// address reads alignment and offset.
func (r *reader) address() {
	r.uint()
	r.uint()
}

// vector reads the number of a vector instruction, and what follows it. wazero takes the number for one byte, and the
// second byte of a higher one, which is 1, for a nop. So no number may be written in another way.
func (r *reader) vector() {
	sub := r.byte()
	switch {
	case sub <= vectorStore, sub == vectorLoadZero32, sub == vectorLoadZero64:
		r.address()
	case sub == vectorConst, sub == vectorShuffle:
		r.bytes(16)
	case sub >= vectorFirstLane && sub <= vectorLastLane:
		r.byte()
	case sub >= vectorLoadLane && sub <= vectorStoreLane:
		r.address()
		r.byte()
	case sub >= 0x80:
		if high := r.byte(); high != 1 {
			r.fail("instruction 0x%x 0x%x 0x%x is not of WebAssembly 2.0", opVector, sub, high)
		}
	}
}
