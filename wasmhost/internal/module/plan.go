package module

import "fmt"

// plan is what a meter adds to a function.
type plan struct {
	points []point // in the order of the code; the first is the entry
	calls  []call
}

// point is a place where something is added.
type point struct {
	at    int // in the body
	adds  addition
	units int // that it charges
}

type addition int

const (
	charge     addition = iota // for the code up to the next point that charges
	chargeSize                 // for the size that is the last operand of a bulk instruction
	look                       // before what may take long
)

// call is of a function, or of anyFunction, and has the point that pays for it.
type call struct{ function, pays int }

const anyFunction = -1

// plan reads the code of all functions.
func (m *module) plan() ([]plan, error) {
	plans := make([]plan, len(m.bodies))
	all := 0
	for f, body := range m.bodies {
		p := planner{m: m, body: body, r: &reader{rest: body}}
		p.readLocals(m.types[m.functions[len(m.wasi)+f]].parameters)
		all += p.locals
		if all > maxAllLocals {
			p.r.fail("with it there are more than %d local variables", maxAllLocals)
		}
		p.readCode()
		if p.r.err != nil {
			return nil, fmt.Errorf("function %d: %w", len(m.wasi)+f, p.r.err)
		}
		plans[f] = p.plan
	}
	return plans, nil
}

// planner reads the code of a function.
type planner struct {
	plan   plan
	m      *module
	body   []byte
	r      *reader
	locals int     // with the parameters
	blocks []block // that are open
}

type block struct {
	op   byte
	pays int // the point that charges for what follows in it
}

func (p *planner) readLocals(parameters int) {
	p.locals = parameters
	for range p.r.count(maxLocals, "groups of local variables") {
		p.locals += p.r.int(maxLocals-p.locals, "further local variables")
		p.r.valueType()
	}
}

func (p *planner) readCode() {
	p.blocks = []block{{op: opBlock, pays: p.add(p.at(), charge)}}
	for len(p.blocks) > 0 && p.r.err == nil {
		p.readInstruction()
	}
	if p.r.more() {
		p.r.fail("%d bytes after its end", len(p.r.rest))
	}
}

// at is where the reader is in the body.
func (p *planner) at() int { return len(p.body) - len(p.r.rest) }

func (p *planner) add(at int, adds addition) (number int) {
	p.plan.points = append(p.plan.points, point{at: at, adds: adds})
	return len(p.plan.points) - 1
}

func (p *planner) readInstruction() {
	at := p.at()
	i := p.m.instruction(p.r, p.locals, len(p.blocks))
	top := &p.blocks[len(p.blocks)-1]
	if p.plan.points[top.pays].units > maxCharge && i.op != opElse && i.op != opEnd {
		top.pays = p.add(at, charge) // for this block only: a jump out of it passes over the rest
	}
	p.plan.points[top.pays].units += cost(i, p.locals)
	switch i.op {
	case opBlock, opIf:
		p.blocks = append(p.blocks, block{i.op, top.pays})
	case opLoop:
		p.blocks = append(p.blocks, block{i.op, p.add(p.at(), charge)})
	case opElse:
		if top.op != opIf {
			p.r.fail("an else without an if")
			return
		}
		*top = block{opElse, p.blocks[len(p.blocks)-2].pays}
	case opEnd:
		p.blocks = p.blocks[:len(p.blocks)-1]
	case opCall, opCallIndirect:
		p.addCall(at, i, top.pays)
	case opMemoryGrow:
		p.add(at, look)
	case opBulk:
		p.addBulk(at, i.sub)
	}
}

func (p *planner) addCall(at int, i instruction, pays int) {
	function := i.index
	isWASI := p.m.isWASI(function)
	if i.op == opCallIndirect {
		function = anyFunction
		isWASI = p.m.wasiReferred
	}
	if isWASI { // the host's other functions look themselves
		p.add(at, look)
	}
	p.plan.calls = append(p.plan.calls, call{function, pays})
}

func (p *planner) addBulk(at int, sub byte) {
	switch sub {
	case bulkMemoryInit, bulkMemoryCopy, bulkMemoryFill, bulkTableInit, bulkTableCopy, bulkTableFill:
		p.add(at, chargeSize)
	case bulkTableGrow:
		p.add(at, look)
	}
}
