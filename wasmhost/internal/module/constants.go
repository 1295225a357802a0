package module

// constants are what exported functions return that do nothing else: their body is one constant, or nothing at all. Guests
// on the SDK export every hook: the ones that they do not implement, too.
func (m *module) constants() map[string]uint64 {
	constants := map[string]uint64{}
	for name, f := range m.exports {
		if f < len(m.wasi) {
			continue
		}
		if value, ok := constant(m.bodies[f-len(m.wasi)]); ok {
			constants[name] = value
		}
	}
	return constants
}

// constant is what a function returns that has one constant for a body.
func constant(body []byte) (value uint64, ok bool) {
	r := &reader{rest: body}
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
			pushed = true
			value = uint64(uint32(r.signed(32)))
		case op == opI64Const:
			pushed = true
			value = uint64(r.signed(64))
		default:
			return 0, false
		}
	}
}
