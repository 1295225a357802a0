package module

import "slices"

// The meter decrements fuel, by about as many units as what follows takes nanoseconds. At the entry of a function and at
// the head of a loop, all code is charged up to the next of these, both arms of each if included. So what is run is charged
// before, and at most once too often. A function that is short, calls nothing and does not repeat itself is charged to its
// callers: an entry of its own would cost as much as what it does.
const (
	// fuel is how many units there are between two looks at whether to stop: some 0.1 ms.
	fuel = 128 << 10
	// maxLeaf is what a function may cost that its callers pay, in units.
	maxLeaf = 100
	// maxCharge is how much is charged at once before the rest of a block is charged on its own, so that a long
	// function has looks in between.
	maxCharge = 16 << 10
	// perUnit is how many bytes, or entries of a table, a bulk instruction copies or fills for a unit, as a power of two.
	perUnit = 4
	// localsPerUnit is how many local variables one unit of a jump is for: compiled code may have to move each.
	localsPerUnit = 64
)

// meter puts the meter into the module.
func (m *module) meter(leaves []int) {
	code := appendUint(nil, len(m.bodies)+2)
	dearest := slices.Max(append(leaves, 0)) // of all functions that may be in a table
	for number, body := range m.bodies {
		if leaves[number] == notLeaf {
			body = m.metered(number, leaves, dearest)
		}
		code = appendSized(code, body)
	}
	code = appendSized(code, m.lookBody())
	m.sections[sectionCode] = appendSized(code, m.chargeSizeBody())

	m.extend(sectionType, []byte{typeFunction, 0, 0}, []byte{typeFunction, 1, typeI32, 1, typeI32})
	m.extend(sectionFunction, appendUint(nil, len(m.types)), appendUint(nil, len(m.types)+1))
	m.extend(sectionGlobal, variable(fuel), variable(0))
	m.extend(sectionExport, export(StopGlobal, kindGlobal, m.stopGlobal()))
	if m.start >= 0 {
		m.extend(sectionExport, export(StartFunction, kindFunction, m.start))
		m.sections[sectionStart] = nil // no code is to run before the host can stop it
	}
}

// What is added has the numbers after the guest's own.
func (m *module) fuelGlobal() int         { return m.globals }
func (m *module) stopGlobal() int         { return m.globals + 1 }
func (m *module) lookFunction() int       { return len(m.functions) }
func (m *module) chargeSizeFunction() int { return len(m.functions) + 1 }

// metered is the body of a function with what is added to it.
func (m *module) metered(number int, leaves []int, dearest int) []byte {
	f, _ := m.readCode(number) // it was read before
	for _, c := range f.calls {
		switch {
		case c.function == anyFunction:
			f.points[c.pays].units += dearest
		case c.function >= len(m.wasi):
			f.points[c.pays].units += max(0, leaves[c.function-len(m.wasi)])
		}
	}
	made := make([]byte, 0, len(f.body)*5/4)
	at := 0
	for _, point := range f.points {
		made = append(made, f.body[at:point.at]...)
		at = point.at
		switch {
		case point.adds == look:
			made = appendOp(made, opCall, m.lookFunction())
		case point.adds == chargeSize:
			made = appendOp(made, opCall, m.chargeSizeFunction())
		case point.units > 0:
			made = m.appendCharge(made, appendConst(nil, point.units))
		}
	}
	return append(made, f.body[at:]...)
}

// appendCharge decrements the fuel by what some code pushes, and looks where it is used up.
func (m *module) appendCharge(made, units []byte) []byte {
	made = appendOp(made, opGlobalGet, m.fuelGlobal())
	made = append(append(made, units...), opI32Sub)
	made = appendOp(made, opGlobalSet, m.fuelGlobal())
	made = appendOp(made, opGlobalGet, m.fuelGlobal())
	made = append(appendConst(made, 0), opI32LtS, opIf, typeNone)
	return append(appendOp(made, opCall, m.lookFunction()), opEnd)
}

// lookBody is a function that ends the guest where it is to stop. Growing the memory by nothing leaves the compiled
// code: Go's collector may run.
func (m *module) lookBody() []byte {
	body := append(appendConst([]byte{0}, 0), opMemoryGrow, 0, opDrop)
	body = appendOp(body, opGlobalGet, m.stopGlobal())
	body = append(body, opIf, typeNone, opUnreachable, opEnd)
	body = appendOp(appendConst(body, fuel), opGlobalSet, m.fuelGlobal())
	return append(body, opEnd)
}

// chargeSizeBody is a function that charges by a size, and returns it.
func (m *module) chargeSizeBody() []byte {
	units := append(appendConst([]byte{opLocalGet, 0}, perUnit), opI32ShrU)
	return append(m.appendCharge([]byte{0}, units), opLocalGet, 0, opEnd)
}

// variable is an i32 in the list of globals.
func variable(value int) []byte { return append(appendConst([]byte{typeI32, 1}, value), opEnd) }

func export(name string, kind byte, index int) []byte {
	return appendUint(append(appendSized(nil, []byte(name)), kind), index)
}

func appendOp(b []byte, op byte, index int) []byte { return appendUint(append(b, op), index) }

// appendConst appends an i32.const of what is not negative.
func appendConst(b []byte, v int) []byte {
	b = append(b, opI32Const)
	for ; v >= 0x40; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}
