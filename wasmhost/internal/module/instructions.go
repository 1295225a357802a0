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
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opLocalGet     = 0x20
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32LtS       = 0x48
	opI32Sub       = 0x6b
	opI32ShrU      = 0x76
	opRefNull      = 0xd0
	opRefFunc      = 0xd2
	opBulk         = 0xfc // and conversions
	opVector       = 0xfd

	vectorConst = 0x0c // behind opVector
)

// instructions says how instructions are written, what they cost in units of the meter, and what it adds before them.
type instructions []struct {
	first, last byte
	immediates  string // a letter for each, see immediates
	cost        int    // without what it calls or copies
	adds        addition
}

var plain = instructions{
	{0x00, 0x00, "", 1, nothing},   // unreachable
	{0x01, 0x01, "", 0, nothing},   // nop
	{0x02, 0x03, "b", 0, nothing},  // block, loop
	{0x04, 0x04, "b", 1, nothing},  // if
	{0x05, 0x05, "", 0, nothing},   // else
	{0x0b, 0x0b, "", 0, nothing},   // end
	{0x0c, 0x0d, "l", 1, nothing},  // br, br_if
	{0x0e, 0x0e, "L", 1, nothing},  // br_table
	{0x0f, 0x0f, "", 1, nothing},   // return
	{0x10, 0x10, "f", 4, nothing},  // call
	{0x11, 0x11, "yt", 4, nothing}, // call_indirect
	{0x1a, 0x1a, "", 0, nothing},   // drop
	{0x1b, 0x1b, "", 1, nothing},   // select
	{0x1c, 0x1c, "1v", 1, nothing}, // select of a type
	{0x20, 0x22, "x", 1, nothing},  // local.get, .set, .tee
	{0x23, 0x24, "g", 1, nothing},  // global.get, .set
	{0x25, 0x26, "t", 1, nothing},  // table.get, .set
	{0x28, 0x35, "uu", 1, nothing}, // loads: alignment and offset
	{0x36, 0x3e, "uu", 2, nothing}, // stores: the first write to a page is slow
	{0x3f, 0x3f, "0", 1, nothing},  // memory.size
	{0x40, 0x40, "0", 1, look},     // memory.grow
	{0x41, 0x41, "i", 1, nothing},  // i32.const
	{0x42, 0x42, "I", 1, nothing},  // i64.const
	{0x43, 0x43, "4", 1, nothing},  // f32.const
	{0x44, 0x44, "44", 1, nothing}, // f64.const
	{0x45, 0xc4, "", 1, nothing},   // on numbers, but:
	{0x6d, 0x70, "", 8, nothing},   // i32.div_s to i32.rem_u
	{0x7f, 0x82, "", 8, nothing},   // i64.div_s to i64.rem_u
	{0x91, 0x91, "", 5, nothing},   // f32.sqrt
	{0x95, 0x95, "", 5, nothing},   // f32.div
	{0x9f, 0x9f, "", 5, nothing},   // f64.sqrt
	{0xa3, 0xa3, "", 5, nothing},   // f64.div
	{0xd0, 0xd0, "r", 1, nothing},  // ref.null
	{0xd1, 0xd1, "", 1, nothing},   // ref.is_null
	{0xd2, 0xd2, "f", 64, nothing}, // ref.func leaves the compiled code
}.byNumber()

// bulk are behind opBulk.
var bulk = instructions{
	{0, 7, "", 8, nothing},        // truncations
	{8, 8, "d0", 8, chargeSize},   // memory.init
	{9, 9, "d", 8, nothing},       // data.drop
	{10, 10, "00", 8, chargeSize}, // memory.copy
	{11, 11, "0", 8, chargeSize},  // memory.fill
	{12, 12, "et", 8, chargeSize}, // table.init
	{13, 13, "e", 8, nothing},     // elem.drop
	{14, 14, "tt", 8, chargeSize}, // table.copy
	{15, 15, "t", 8, look},        // table.grow
	{16, 16, "t", 8, nothing},     // table.size
	{17, 17, "t", 8, chargeSize},  // table.fill
}.byNumber()

// vectors are behind opVector. wazero takes the number of one for one byte, and the second byte of a higher one, which is
// 1, for a nop. So no number may be written in another way.
var vectors = instructions{
	{0x00, 0x0b, "uu", 3, nothing},   // loads and stores
	{0x0c, 0x0d, "4444", 3, nothing}, // v128.const, shuffle
	{0x0e, 0x7f, "", 3, nothing},     // on vectors, but:
	{0x15, 0x22, "n", 3, nothing},    // of a lane
	{0x54, 0x5b, "uun", 3, nothing},  // loads and stores of a lane
	{0x5c, 0x5d, "uu", 3, nothing},   // loads of the lowest lane
	{0x80, 0xff, "1", 3, nothing},
}.byNumber()

// instruction is a row of instructions.
type instruction struct {
	immediates string
	cost       int
	adds       addition
}

// byNumber has an instruction for each number, or nil.
func (all instructions) byNumber() (numbered [256]*instruction) {
	for _, row := range all {
		for n := int(row.first); n <= int(row.last); n++ {
			numbered[n] = &instruction{row.immediates, row.cost, row.adds}
		}
	}
	return numbered
}

// instruction reads the number of an instruction. Of what is not checked here, wazero checks the types.
func (r *reader) instruction() (op byte, i *instruction) {
	from := r.rest
	op = r.byte()
	i = plain[op]
	switch op {
	case opBulk:
		i = bulk[r.byte()]
	case opVector:
		i = vectors[r.byte()]
	}
	if i == nil {
		r.fail("instruction % #x is not of WebAssembly 2.0", from[:len(from)-len(r.rest)])
		i = plain[opNop]
	}
	return op, i
}

// immediates reads the immediates of an instruction of a function with so many local variables, within so many blocks. It
// returns the index of the function or of the global, if there is one.
func (m *module) immediates(r *reader, i *instruction, locals, blocks int) (index int) {
	for _, kind := range i.immediates {
		switch kind {
		case '0':
			r.oneOf("\x00", "reserved byte")
		case '1':
			r.oneOf("\x01", "byte")
		case 'n': // lane
			r.byte()
		case '4':
			r.bytes(4)
		case 'u': // alignment, offset
			r.uint()
		case 'i':
			r.signed(32)
		case 'I':
			r.signed(64)
		case 'b':
			r.blockType(len(m.types))
		case 'v':
			r.oneOf(valueTypes, "type")
		case 'r':
			r.oneOf(referenceTypes, "type")
		case 'l':
			r.index(blocks, "blocks")
		case 'L':
			for range r.count(maxFunction, "targets") + 1 { // and the default
				r.index(blocks, "blocks")
			}
		case 'x':
			r.index(locals, "local variables")
		case 'y':
			r.index(len(m.types), "types")
		case 'f':
			index = r.index(len(m.functions), "functions")
		case 't':
			r.index(len(m.tables), "tables")
		case 'g':
			index = r.index(m.globals, "globals")
		case 'd':
			r.index(m.dataCount, "counted segments of data")
		case 'e':
			r.index(m.elements, "segments of elements")
		}
	}
	return index
}
