package module

import "fmt"

// function is the code of a function, and what a meter adds to it.
type function struct {
	m      *module
	body   []byte
	r      *reader
	locals int     // with the parameters
	blocks []block // that are open where the reader is
	points []point // in the order of the code; the first is the entry
	calls  []call
}

type block struct {
	op   byte
	pays int // the point that charges for what follows in it
}

// point is a place where something is added.
type point struct {
	at    int // in the body
	adds  addition
	units int // that it charges
}

type addition int

const (
	nothing    addition = iota
	charge              // for the code up to the next point that charges
	chargeSize          // for the size that is the last operand of a bulk instruction
	look                // before what may take long
)

// call is of a function, or of anyFunction, and has the point that pays for it.
type call struct{ function, pays int }

const anyFunction = -1

// readCode reads the code of a function that is not imported.
func (m *module) readCode(number int) (*function, error) {
	f := &function{m: m, body: m.bodies[number], r: &reader{rest: m.bodies[number]}}
	number += len(m.wasi)
	f.locals = m.types[m.functions[number]].parameters
	for range f.r.count(maxLocals, "groups of local variables") {
		f.locals += f.r.int(maxLocals-f.locals, "further local variables")
		f.r.oneOf(valueTypes, "type")
	}
	f.blocks = []block{{op: opBlock, pays: f.add(f.at(), charge)}}
	f.points[0].units = f.locals / localsPerUnit
	for len(f.blocks) > 0 && f.r.err == nil {
		f.readInstruction()
	}
	f.r.end()
	if f.r.err != nil {
		return nil, fmt.Errorf("function %d: %w", number, f.r.err)
	}
	return f, nil
}

// at is where the reader is in the body.
func (f *function) at() int { return len(f.body) - len(f.r.rest) }

func (f *function) add(at int, adds addition) (number int) {
	f.points = append(f.points, point{at: at, adds: adds})
	return len(f.points) - 1
}

func (f *function) readInstruction() {
	at := f.at()
	op, i := f.r.instruction()
	index := f.m.immediates(f.r, i, f.locals, len(f.blocks))
	top := &f.blocks[len(f.blocks)-1]
	if f.points[top.pays].units > maxCharge && op != opElse && op != opEnd {
		top.pays = f.add(at, charge) // for this block only: a jump out of it passes over the rest
	}
	f.points[top.pays].units += i.cost
	if op >= opBlock && op <= opBrTable {
		f.points[top.pays].units += f.locals / localsPerUnit
	}
	if i.adds != nothing {
		f.add(at, i.adds)
	}
	switch op {
	case opBlock, opIf:
		f.blocks = append(f.blocks, block{op, top.pays})
	case opLoop:
		f.blocks = append(f.blocks, block{op, f.add(f.at(), charge)})
	case opElse:
		if top.op != opIf {
			f.r.fail("an else without an if")
			return
		}
		*top = block{opElse, f.blocks[len(f.blocks)-2].pays}
	case opEnd:
		f.blocks = f.blocks[:len(f.blocks)-1]
	case opCall, opCallIndirect:
		isWASI := f.m.isWASI(index)
		if op == opCallIndirect {
			index = anyFunction
			isWASI = f.m.wasiReferred
		}
		if isWASI { // the host's other functions look themselves
			f.add(at, look)
		}
		f.calls = append(f.calls, call{index, top.pays})
	}
}

// notLeaf is of a function that is charged itself.
const notLeaf = -1

// leaf is what callers pay for the function, or notLeaf.
func (f *function) leaf() int {
	units := f.points[0].units
	if len(f.points) > 1 || len(f.calls) > 0 || units > maxLeaf {
		return notLeaf
	}
	return units
}
