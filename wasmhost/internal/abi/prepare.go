package abi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// What a module may have in it, so that to compile it takes no more time and memory than a
// guest is worth. A guest in Go with k8s.io/api has 8,286 functions, one of 191 KB, and 11 MB
// of code. What a function may ask of the compiler is in effort.go.
const (
	maxCode      = 24 << 20  // bytes of all functions
	maxFunction  = 384 << 10 // bytes of a function
	maxFunctions = 64 << 10  // that a module defines
	maxTypes     = 4 << 10   // signatures
	maxInTables  = 1 << 20   // entries of all tables together, of 8 bytes each
)

// maxLeaf is how long a function that calls none may be without a check, in bytes: to call
// one over and over takes no longer than the function that does so.
const maxLeaf = 512

// preparation reads a module that nobody has validated yet, and writes what wazero is
// to compile.
type preparation struct {
	checks    bool            // see prepare
	wasi      map[uint64]bool // imported functions of WASI, by their index
	indirect  bool            // these may be called through a table
	effort    effort
	functions int // that were read
	failed    error
}

// prepare checks what compiling the module can take, and bounds its tables. With checks,
// it also makes the guest interruptible everywhere: wazero 1.12 looks for an interruption
// at the heads of loops alone, and so a guest without loops, of sixty functions each of
// which calls the next one twice, would never end. An empty loop is such a look. It is put
// at the head of each function that calls others, and before each instruction whose time
// depends on an operand. Host functions of ours look for themselves.
//
// What is no module at all is for wazero to refuse, in its words. Not what cannot be read:
// wazero makes room for as many entries as a section says it has.
func prepare(wasm []byte, checks bool) ([]byte, error) {
	if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		return wasm, nil
	}
	p := &preparation{checks: checks, wasi: map[uint64]bool{}}
	out := append(make([]byte, 0, len(wasm)+len(wasm)/8), wasm[:moduleHeader]...)
	r := reader{rest: wasm[moduleHeader:]}
	for r.more() && p.failed == nil {
		id := r.byte()
		content := r.sized()
		if made := p.section(id, content); made != nil {
			out = append(out, id)
			out = binary.AppendUvarint(out, uint64(len(made)))
			out = append(out, made...)
		}
	}
	p.read(&r)
	return out, p.failed
}

// errUnreadable is of a module that is no WebAssembly 2.0.
var errUnreadable = errors.New("wasm: guest is no WebAssembly 2.0: it is cut off, or built with proposals that came later")

// section is what takes the place of a section, or nil.
func (p *preparation) section(id byte, content []byte) []byte {
	r := reader{rest: content}
	if count := r.uint(); id >= sectionType && id <= sectionData && id != sectionStart && count > uint64(len(content)) {
		p.fail(errUnreadable) // each entry takes a byte
	}
	r = reader{rest: content}
	switch id {
	case sectionCustom:
		if p.checks && strings.HasPrefix(string(r.sized()), ".debug_") {
			return nil // about code that is elsewhere now
		}
	case sectionType:
		p.types(&r)
	case sectionImport:
		p.imports(&r)
	case sectionFunction:
		for count := r.uint(); count > 0 && !r.bad; count-- {
			p.effort.functions = append(p.effort.functions, r.uint())
		}
	case sectionTable:
		return p.tables(&r)
	case sectionGlobal:
		p.globals(&r)
	case sectionElement:
		p.elements(&r)
	case sectionCode:
		return p.code(&r)
	}
	p.read(&r)
	return content
}

func (p *preparation) fail(err error) {
	if p.failed == nil {
		p.failed = err
	}
}

// read notes whether all was read well so far.
func (p *preparation) read(r *reader) {
	if r.bad {
		p.fail(errUnreadable)
	}
}

func (p *preparation) bound(what string, has, most uint64) {
	if has > most {
		p.fail(fmt.Errorf("wasm: guest has %d %s, and at most %d are compiled", has, what, most))
	}
}

// types passes over the signatures of functions.
func (p *preparation) types(r *reader) {
	count := r.uint()
	p.bound("types of functions", count, maxTypes)
	for ; count > 0 && !r.bad; count-- {
		r.byte() // a function
		s := signature{params: len(r.sized())}
		s.results = len(r.sized())
		p.bound("parameters and results of a function", uint64(s.params+s.results), maxArity)
		p.effort.types = append(p.effort.types, s)
	}
}

// imports finds the functions of WASI, whose time is the guest's to choose.
func (p *preparation) imports(r *reader) {
	for count := r.uint(); count > 0 && !r.bad; count-- {
		module := string(r.sized())
		r.sized()
		switch r.byte() {
		case 0: // a function
			if module == wasi_snapshot_preview1.ModuleName {
				p.wasi[uint64(len(p.effort.functions))] = true
			}
			p.effort.functions = append(p.effort.functions, r.uint())
			p.functions++
		case 1: // a table
			r.byte()
			r.limits()
		case 2: // a memory
			r.limits()
		case 3: // a global
			r.uints(2)
		default:
			r.fail()
		}
	}
}

// limits reads the limits of a table or a memory.
func (r *reader) limits() (least, most uint64) {
	bounded := r.byte()&1 == 1
	if least, most = r.uint(), math.MaxUint32; bounded {
		most = r.uint()
	}
	return least, most
}

// tables gives each table a maximum: what all may grow by is parted among them.
func (p *preparation) tables(r *reader) []byte {
	type table struct {
		kind        byte
		least, most uint64
	}
	var tables []table
	all := uint64(0)
	for count := r.uint(); count > 0 && !r.bad; count-- {
		t := table{kind: r.byte()}
		t.least, t.most = r.limits()
		all += t.least
		tables = append(tables, t)
	}
	if p.read(r); len(tables) == 0 {
		return binary.AppendUvarint(nil, 0)
	}
	p.bound("entries in its tables", all, maxInTables)
	growth := (maxInTables - min(all, maxInTables)) / uint64(len(tables))
	made := binary.AppendUvarint(nil, uint64(len(tables)))
	for _, t := range tables {
		made = append(made, t.kind, 1)
		made = binary.AppendUvarint(made, t.least)
		made = binary.AppendUvarint(made, min(t.most, t.least+growth))
	}
	return made
}

// globals looks for references to functions of WASI.
func (p *preparation) globals(r *reader) {
	for count := r.uint(); count > 0 && !r.bad; count-- {
		r.uints(2)
		r.expression(p.refersTo)
	}
}

func (p *preparation) refersTo(function uint64) { p.indirect = p.indirect || p.wasi[function] }

// elements looks for functions of WASI that are put into a table.
func (p *preparation) elements(r *reader) {
	for count := r.uint(); count > 0 && !r.bad; count-- {
		flags := r.uint()
		if flags > 7 {
			r.fail()
		}
		passive, explicit, expressions := flags&1 != 0, flags&2 != 0, flags&4 != 0
		if !passive && explicit {
			r.uint() // the table
		}
		if !passive {
			r.expression(p.refersTo) // the offset
		}
		if passive || explicit {
			r.byte() // their kind, or their type
		}
		for of := r.uint(); of > 0 && !r.bad; of-- {
			if expressions {
				r.expression(p.refersTo)
			} else {
				p.refersTo(r.uint())
			}
		}
	}
}

// code puts the checks into each function.
func (p *preparation) code(r *reader) []byte {
	p.bound("bytes of code", uint64(len(r.rest)), maxCode)
	count := r.uint()
	p.bound("functions", count, maxFunctions)
	made := binary.AppendUvarint(make([]byte, 0, len(r.rest)*9/8), count)
	for ; count > 0 && !r.bad && p.failed == nil; count-- {
		body := r.sized()
		p.bound("bytes in a function", uint64(len(body)), maxFunction)
		if p.failed == nil {
			body = p.function(body)
		}
		made = binary.AppendUvarint(made, uint64(len(body)))
		made = append(made, body...)
	}
	p.read(r)
	return made
}

// check is an empty loop.
var check = []byte{opLoop, 0x40, opEnd}

// function puts the checks into a function, and bounds what it asks of the compiler.
func (p *preparation) function(body []byte) []byte {
	r := reader{rest: body}
	p.effort.begin(p.signature(), locals(&r))
	code := r.rest
	made := append(make([]byte, 0, len(body)*9/8), body[:len(body)-len(code)]...)
	head, kept, calls := len(made), 0, false // kept are the bytes of code that were copied
	for r.more() {
		at := len(code) - len(r.rest)
		i := r.instruction()
		p.effort.apply(i)
		calls = calls || i.op == opCall || i.op == opCallIndirect
		if p.takesTime(i) {
			made = append(append(made, code[kept:at]...), check...)
			kept = at
		}
	}
	p.read(&r)
	p.bound("blocks and jumps in a function", p.effort.branches, maxBranches)
	p.bound("blocks and jumps, times local variables, in a function", p.effort.branches*p.effort.locals, maxLocals)
	p.bound("blocks and jumps, times values, in a function", p.effort.operands, maxOperands)
	made = append(made, code[kept:]...)
	if p.checks && (calls || len(code) > maxLeaf) {
		made = slices.Insert(made, head, check...)
	}
	return made
}

// signature is that of the next function.
func (p *preparation) signature() (s signature) {
	if p.functions < len(p.effort.functions) {
		s = p.effort.typeOf(p.effort.functions[p.functions])
	}
	p.functions++
	return s
}

// locals reads how many local variables a function has.
func locals(r *reader) (count uint64) {
	for of := r.uint(); of > 0 && !r.bad; of-- {
		count += min(r.uint(), maxLocals+1)
		r.byte()
	}
	return count
}

// takesTime is true of an instruction that takes as long as its operands say.
func (p *preparation) takesTime(i instruction) bool {
	switch {
	case !p.checks:
		return false
	case i.op == opMemoryGrow:
		return true
	case i.op == opCall:
		return p.wasi[i.index]
	case i.op == opCallIndirect:
		return p.indirect
	case i.op == opBulk:
		switch i.sub {
		case bulkMemoryInit, bulkMemoryCopy, bulkMemoryFill, bulkTableInit, bulkTableCopy, bulkTableGrow, bulkTableFill:
			return true
		}
	}
	return false
}
