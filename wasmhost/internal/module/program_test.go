package module

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// program makes functions at random. They end, in themselves, and what they return depends on all that they do.
type program struct {
	*rand.Rand
	functions int  // that there are
	number    int  // of the one that is made: it calls later ones only
	left      int  // statements
	stays     bool // it does not return
}

// Local variables of functions: the parameter, variables, and a counter for each level of loops.
const (
	variables = 4
	levels    = 4
)

// makeFunctions makes functions, the last of which are leaves.
func makeFunctions(r *rand.Rand) (functions [][]byte) {
	p := &program{Rand: r, functions: 3 + r.IntN(5)}
	for p.number = range p.functions {
		p.left = 12
		functions = append(functions, body(variables+levels, p.block(0), p.value(2)))
	}
	return functions
}

// block is some statements, within so many loops and other blocks.
func (p *program) block(level int) (code []byte) {
	for range 1 + p.IntN(4) {
		p.left--
		code = append(code, p.statement(level)...)
	}
	return code
}

func (p *program) statement(level int) []byte {
	set := op(opLocalGet+1, p.IntN(variables))
	nested := level < levels && p.left > 0
	switch n := p.IntN(14); {
	case n == 0 && nested:
		return join(p.value(1), []byte{opIf, typeNone}, p.block(level+1), []byte{opElse}, p.block(level+1), []byte{opEnd})
	case n <= 2 && nested:
		return p.loop(level)
	case n == 3 && nested: // leaves the block by one of three ways
		return join([]byte{opBlock, typeNone, opBlock, typeNone}, p.block(level+1), p.value(1), i32(3), []byte{0x71}, // and
			[]byte{opBrTable, 2, 0, 1, 0, opEnd}, p.block(level+1), []byte{opEnd})
	case n <= 5 && p.number+1 < p.functions:
		later := p.number + 1 + p.IntN(p.functions-p.number-1)
		if p.IntN(2) == 0 {
			return join(p.value(1), op(opCall, imported+later), set)
		}
		return join(p.value(1), i32(later), op(opCallIndirect, typeOne, 0), set)
	case n == 6:
		fill := [][]byte{{opBulk, bulkMemoryFill, 0}, {opBulk, bulkMemoryCopy, 0, 0}}[p.IntN(2)]
		return join(p.address(), p.value(0), i32(1023), []byte{0x71}, p.small(), fill)
	case n == 7:
		return join(p.address(), p.value(2), op(opI32Store, 0, 0))
	case n == 8:
		return join(p.address(), i32(16), op(opCall, randomGet), set)
	case n == 9:
		return join(op(opCall, severity), set)
	case n == 10:
		return join(i32(p.IntN(2)), op(opMemoryGrow, 0), set)
	case n == 11 && p.IntN(8) == 0: // has to be charged in parts
		return bytes.Repeat(join(op(opLocalGet, 1), i32(3), []byte{0x6a}, op(opLocalGet+1, 1)), maxCharge/2)
	case n == 12 && !p.stays:
		return join(p.value(1), []byte{opIf, typeNone}, p.value(1), []byte{opReturn, opEnd})
	}
	return join(p.value(2), set)
}

// loop runs a few times.
func (p *program) loop(level int) []byte {
	counter := 1 + variables + level - 1
	return join(i32(1+p.IntN(3)), op(opLocalGet+1, counter), []byte{opLoop, typeNone}, p.block(level+1),
		op(opLocalGet, counter), i32(1), []byte{opI32Sub}, op(opLocalTee, counter), op(opBrIf, 0), []byte{opEnd})
}

// value pushes a number.
func (p *program) value(depth int) []byte {
	switch n := p.IntN(5); {
	case depth == 0 || n == 0:
		return i32(p.IntN(1 << 20))
	case n == 1:
		return join(p.address(), op(opI32Load, 0, 0))
	case n == 2: // add, sub, mul, and, xor, shr_u
		operator := []byte{0x6a, 0x6b, 0x6c, 0x71, 0x73, 0x76}[p.IntN(6)]
		return join(p.value(depth-1), p.value(depth-1), []byte{operator})
	case n == 3: // does not divide by zero
		return join(p.value(depth-1), p.value(depth-1), i32(1), []byte{0x72, opI32RemU})
	}
	return op(opLocalGet, p.IntN(variables))
}

func (p *program) address() []byte { return join(p.value(1), i32(4095), []byte{0x71}) }
func (p *program) small() []byte   { return join(p.value(1), i32(255), []byte{0x71}) }

// guestOf calls the first function, and answers with all that is in memory.
func guestOf(functions [][]byte, code ...[]byte) guest {
	var entries []byte
	for f := range functions {
		entries = join(entries, imported+f)
	}
	sum := join(op(opLocalGet, 1), op(opLocalGet, 0), op(opI32Load, 0, 0), []byte{0x73}, i32(31), []byte{0x6c}, op(opLocalGet+1, 1))
	counted := join(op(opLocalGet, 0), i32(4), []byte{0x6a}, op(opLocalTee, 0), i32(8192), []byte{0x49}, op(opBrIf, 0)) // lt_u
	code = append(code, i32(5), op(opCall, imported), op(opLocalGet+1, 1), []byte{opLoop, typeNone}, sum, counted, []byte{opEnd}, op(opLocalGet, 1))
	return guest{
		functions: functions,
		filter:    body(2, code...),
		elements:  [][]byte{join(0, i32(0), []byte{opEnd}, len(functions), entries)},
		more:      map[byte][]byte{sectionMemory: list(join(1, 1, 64))},
	}
}

// What a guest answers, it answers with a meter, too.
func FuzzResults(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		wasm := guestOf(makeFunctions(rand.New(rand.NewPCG(seed, 0)))).wasm()
		want := filter(t, wasm)
		for _, meter := range []bool{true, false} {
			prepared, err := Prepare(wasm, meter)
			testkit.Must(t, err)
			testkit.Equal(t, filter(t, prepared.Wasm), want, "meter %v", meter)
		}
	})
}

// endless are shapes of code that never ends, around a function.
var endless = map[string]func(p *program, functions [][]byte) guest{
	"a loop": func(p *program, functions [][]byte) guest {
		return guestOf(functions, []byte{opLoop, typeNone}, i32(1), op(opCall, imported+p.IntN(len(functions))), []byte{opDrop}, op(opBr, 0), []byte{opEnd})
	},
	"a loop that is left and entered again": func(p *program, functions [][]byte) guest {
		p.number = len(functions)
		again := join([]byte{opLoop, typeNone, opLoop, typeNone}, p.block(0), op(opBr, 1), []byte{opEnd, opEnd})
		return guestOf(append(functions, body(variables+levels, again, i32(7))), i32(1), op(opCall, imported+len(functions)), []byte{opDrop})
	},
	"a jump by a table": func(_ *program, functions [][]byte) guest {
		return guestOf(functions, []byte{opLoop, typeNone}, i32(1), op(opCall, imported), op(opBrTable, 1, 0, 0), []byte{opEnd})
	},
	"many calls of a leaf": func(p *program, functions [][]byte) guest {
		calls := bytes.Repeat(join(i32(1), op(opCall, imported+len(functions)), []byte{opDrop}), 20_000)
		return guestOf(append(functions, p.leaf()), []byte{opLoop, typeNone}, calls, op(opBr, 0), []byte{opEnd})
	},
	"many indirect calls of a leaf": func(p *program, functions [][]byte) guest {
		calls := bytes.Repeat(join(i32(1), i32(len(functions)), op(opCallIndirect, typeOne, 0), []byte{opDrop}), 2000)
		return guestOf(append(functions, p.leaf()), []byte{opLoop, typeNone}, calls, op(opBr, 0), []byte{opEnd})
	},
	"functions that call each other twice": func(_ *program, functions [][]byte) guest {
		first := len(functions)
		for n := range 60 {
			callNext := join(i32(1), op(opCall, imported+first+n+1), []byte{opDrop})
			functions = append(functions, body(0, callNext, callNext, i32(7)))
		}
		return guestOf(append(functions, body(0, i32(7))), i32(1), op(opCall, imported+first), []byte{opDrop})
	},
	"recursion": func(p *program, functions [][]byte) guest {
		p.number = len(functions)
		itself := join(i32(1), i32(len(functions)), op(opCallIndirect, typeOne, 0), []byte{opDrop})
		return guestOf(append(functions, body(variables+levels, p.block(0), itself, itself, i32(7))), i32(1), op(opCall, imported+len(functions)), []byte{opDrop})
	},
	"local variables that a loop moves": func(_ *program, functions [][]byte) guest {
		const many = 5000
		moves := []byte{}
		for n := range many {
			moves = join(moves, op(opLocalGet, 1+(n+1)%many), op(opLocalGet+1, 1+n))
		}
		rarely := join(op(opCall, severity), []byte{opI32Eqz, opIf, typeNone}, moves, []byte{opEnd})
		return guestOf(append(functions, body(many, []byte{opLoop, typeNone, opBlock, typeNone}, rarely, []byte{opEnd}, op(opBr, 0), []byte{opEnd}, i32(7))),
			i32(1), op(opCall, imported+len(functions)), []byte{opDrop})
	},
	"fills without a loop":  repeated(500, i32(0), i32(0), i32(60<<20), []byte{opBulk, bulkMemoryFill, 0}),
	"copies without a loop": repeated(500, i32(0), i32(30<<20), i32(30<<20), []byte{opBulk, bulkMemoryCopy, 0, 0}),
	"fills of a table":      repeated(2000, i32(0), []byte{opRefNull, typeFuncref}, i32(maxInTables), []byte{opBulk, bulkTableFill, 0}),
	"copies of a table":     repeated(2000, i32(1), i32(0), i32(maxInTables-1), []byte{opBulk, bulkTableCopy, 0, 0}),
	"calls of WASI":         repeated(200, i32(0), i32(60<<20), op(opCall, randomGet), []byte{opDrop}),
	"indirect calls of WASI": func(p *program, functions [][]byte) guest {
		g := repeated(200, i32(0), i32(60<<20), i32(63), op(opCallIndirect, typeTwo, 0), []byte{opDrop})(p, functions)
		g.elements = append(g.elements, join(0, i32(63), []byte{opEnd}, 1, randomGet))
		return g
	},
}

// leaf divides, up to some 500 bytes.
func (p *program) leaf() []byte {
	divide := join(i32(math.MaxInt32), op(opLocalGet, 0), i32(1), []byte{0x72, opI32RemU}, op(opLocalGet+1, 0))
	return body(0, bytes.Repeat(divide, 1+p.IntN(35)), op(opLocalGet, 0))
}

// repeated is code that takes long, often enough to take minutes.
func repeated(times int, code ...[]byte) func(*program, [][]byte) guest {
	return func(_ *program, functions [][]byte) guest {
		g := guestOf(functions, bytes.Repeat(slices.Concat(code...), times))
		g.more[sectionMemory] = list(join(0, 1024))
		g.more[sectionTable] = list(join([]byte{typeFuncref, 0}, maxInTables))
		return g
	}
}

// A guest of any shape ends when it is to stop.
func FuzzEnds(f *testing.F) {
	shapes := slices.Sorted(maps.Keys(endless))
	for seed := range 2 * len(shapes) {
		f.Add(uint64(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		shape := shapes[seed%uint64(len(shapes))]
		p := &program{Rand: rand.New(rand.NewPCG(seed, 1)), functions: 1, left: 6, stays: true}
		functions := makeFunctions(p.Rand)
		p.functions = len(functions)
		wasm := endless[shape](p, functions).wasm()
		err := stop(t, wasm)
		if err == nil || errors.Is(err, errLate) {
			t.Errorf("%s: %v", shape, err)
		}
	})
}
