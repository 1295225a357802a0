package abi

// What a function may ask of wazero's compiler, whose time and memory grow with the product
// of what lives and of where it may go: a function of 17 KB with 1,000 local variables and as
// many blocks took 16 s and 900 MiB. The bounds are at least twice what was measured of v1,
// v2 and a guest in Go with k8s.io/api: 9,775 branches, 116,426 times local variables, 6,737
// times values. At the bounds a function took up to 5 s.
const (
	maxBranches = 20 << 10  // blocks and jumps, and targets of br_table, of a function
	maxLocals   = 256 << 10 // branches, each times the function's local variables
	maxOperands = 64 << 10  // branches, each times the values on the stack there
	maxArity    = 128       // parameters and results of a signature

	// bulkBranches is how many wazero makes of a bulk instruction, with the check before it.
	bulkBranches = 4
)

// effort follows the instructions of a function.
type effort struct {
	types     []signature
	functions []uint64 // the signature of each, imported ones first

	locals, branches, operands uint64

	height int // of the stack, at most
	blocks []block
}

type signature struct{ params, results int }

type block struct {
	base   int // the height below its parameters
	params int
	leaves int // results
}

// begin enters a function with so many local variables.
func (e *effort) begin(s signature, locals uint64) {
	e.locals, e.branches, e.operands, e.height = locals+uint64(s.params), 0, 0, 0
	e.blocks = append(e.blocks[:0], block{leaves: s.results})
}

func (e *effort) typeOf(index uint64) (s signature) {
	if index < uint64(len(e.types)) {
		s = e.types[index]
	}
	return s
}

// apply takes note of an instruction.
func (e *effort) apply(i instruction) {
	top := &e.blocks[len(e.blocks)-1]
	switch i.op {
	case opBlock, opLoop, opIf:
		e.branch(1)
		e.height = max(e.height-int(i.op-opBlock)/2, top.base) // the condition
		s := e.blockType(i.block)
		e.blocks = append(e.blocks, block{max(e.height-s.params, top.base), s.params, s.results})
	case opElse:
		e.height = top.base + top.params
	case opEnd:
		e.height = top.base + top.leaves
		if len(e.blocks) > 1 {
			e.blocks = e.blocks[:len(e.blocks)-1]
		}
	case opBr, opBrIf, opBrTable:
		e.branch(i.targets + 1)
		if e.height = max(e.height-1, top.base); i.op != opBrIf {
			e.height = top.base // what follows is not reached
		}
	case opUnreachable, opReturn:
		e.height = top.base
	case opCall, opCallIndirect:
		s := e.typeOf(i.index)
		if i.op == opCall && i.index < uint64(len(e.functions)) {
			s = e.typeOf(e.functions[i.index])
		}
		e.height = max(e.height-s.params, top.base) + s.results
	default:
		if i.op == opBulk && i.sub >= bulkMemoryInit {
			e.branch(bulkBranches)
		}
		e.height = max(e.height+grows(i), top.base)
	}
}

func (e *effort) branch(targets uint64) {
	e.branches += targets
	e.operands += targets * uint64(e.height)
}

// blockType is a signature, or one result, or none.
func (e *effort) blockType(of int64) signature {
	switch {
	case of >= 0:
		return e.typeOf(uint64(of))
	case of == -0x40:
		return signature{}
	}
	return signature{results: 1}
}

// grows is by how much an instruction that does not jump changes the height of the stack.
// Of vectors it is too high rather than too low.
func grows(i instruction) int {
	switch op := i.op; {
	case op == 0x20, op == 0x23, op == 0x3f, op >= 0x41 && op <= 0x44, op == 0xd0, op == 0xd2: // local.get, global.get, memory.size, constants, references
		return 1
	case op == 0x1a, op == 0x21, op == 0x24: // drop, local.set, global.set
		return -1
	case op == 0x1b, op == 0x1c, op == 0x26, op >= 0x36 && op <= 0x3e: // select, table.set, stores
		return -2
	case op >= 0x46 && op <= 0x4f, op >= 0x51 && op <= 0x66, op >= 0x6a && op <= 0x78, op >= 0x7c && op <= 0x8a,
		op >= 0x92 && op <= 0x98, op >= 0xa0 && op <= 0xa6: // of two operands
		return -1
	case op == opBulk:
		return bulkGrows[i.sub]
	case op == opVector && i.sub == 11: // v128.store
		return -2
	case op == opVector && i.sub == 12: // v128.const
		return 1
	}
	return 0
}

var bulkGrows = map[uint64]int{
	bulkMemoryInit: -3, bulkMemoryCopy: -3, bulkMemoryFill: -3, bulkTableInit: -3, bulkTableCopy: -3, bulkTableFill: -3,
	bulkTableGrow: -1, bulkTableSize: 1,
}
