package abi

// bodies are the bodies of the functions that a valid module defines, in their order.
func bodies(wasm []byte) (bodies [][]byte) {
	for r := (reader{rest: wasm[moduleHeader:]}); r.more(); {
		id := r.byte()
		section := reader{rest: r.sized()}
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
	r := reader{rest: body}
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
			return value, !r.more()
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
