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
	sections  map[byte][]byte // as they are in the module
	globals   uint64          // that there are, imported ones first
	fueled    bool            // the globals of the checks are written
	wasi      map[uint64]bool // imported functions of WASI, by their index
	indirect  bool            // these may be called through a table
	effort    effort
	functions int // that were read
	failed    error
}

// prepare checks what compiling the module can take, and bounds its tables. With checks,
// it also makes the guest interruptible everywhere. Wazero can do so by itself, but then
// starts a goroutine for each call, and leaves the compiled code in each round of each loop:
// v2 took three times as long. Here a counter, the fuel, is decremented at the head of each
// loop and of each function that calls others. Where it is used up, and before each
// instruction whose time depends on an operand, the function look is called, which ends the
// guest if it is to stop. Host functions of ours look for themselves.
//
// What is no module at all is for wazero to refuse, in its words. Not what cannot be read:
// wazero makes room for as many entries as a section says it has.
func prepare(wasm []byte, checks bool) ([]byte, error) {
	if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		return wasm, nil
	}
	p := &preparation{wasi: map[uint64]bool{}, sections: map[byte][]byte{}}
	for r := (reader{rest: wasm[moduleHeader:]}); r.more(); {
		id := r.byte()
		p.sections[id] = r.sized()
	}
	memories := reader{rest: p.sections[sectionMemory]}
	p.checks = checks && memories.uint() > 0 // without one, it is no guest
	out := append(make([]byte, 0, len(wasm)+len(wasm)/8), wasm[:moduleHeader]...)
	r := reader{rest: wasm[moduleHeader:]}
	for r.more() && p.failed == nil {
		id := r.byte()
		content := r.sized()
		if p.checks && !p.fueled && id >= sectionGlobal {
			p.fueled = true
			if id != sectionGlobal { // there is none
				out = appendSection(out, sectionGlobal, p.section(sectionGlobal, []byte{0}))
			}
		}
		if made := p.section(id, content); made != nil {
			out = appendSection(out, id, made)
		}
	}
	p.read(&r)
	return out, p.failed
}

func appendSection(out []byte, id byte, content []byte) []byte {
	out = binary.AppendUvarint(append(out, id), uint64(len(content)))
	return append(out, content...)
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
			return nil // about code that has moved
		}
	case sectionType:
		p.types(&r)
		return p.added(content, 1, 0x60, 0, 0) // look's
	case sectionImport:
		p.imports(&r)
	case sectionFunction:
		for count := r.uint(); count > 0 && !r.bad; count-- {
			p.effort.functions = append(p.effort.functions, r.uint())
		}
		return p.added(content, 1, binary.AppendUvarint(nil, uint64(len(p.effort.types)))...)
	case sectionTable:
		return p.tables(&r)
	case sectionGlobal:
		p.readGlobals(&r)
		return p.added(content, 2, append(i32Global(fuel), i32Global(0)...)...)
	case sectionExport:
		return p.exports(content)
	case sectionStart:
		if p.checks {
			return nil // it is exported
		}
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

// added is a list with further entries, where the module gets checks.
func (p *preparation) added(content []byte, entries uint64, encoded ...byte) []byte {
	if !p.checks {
		return content
	}
	r := reader{rest: content}
	made := binary.AppendUvarint(nil, r.uint()+entries)
	p.read(&r)
	return slices.Concat(made, r.rest, encoded)
}

// exports adds what the host needs of the checks. The start function is exported, too: no
// code is to run before the host can stop it.
func (p *preparation) exports(content []byte) []byte {
	stop := exported(exportStop, 3, p.globals+1)
	if start := p.sections[sectionStart]; start != nil {
		r := reader{rest: start}
		return p.added(content, 2, append(stop, exported(exportStartSection, 0, r.uint())...)...)
	}
	return p.added(content, 1, stop...)
}

func exported(name string, kind byte, index uint64) []byte {
	entry := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	return binary.AppendUvarint(append(entry, kind), index)
}

// i32Global is a variable, in a list of globals.
func i32Global(value int32) []byte {
	return append(i32Const([]byte{0x7f, 1}, value), opEnd)
}

// i32Const appends a constant that is not negative.
func i32Const(code []byte, value int32) []byte {
	code = append(code, opI32Const)
	for ; value >= 0x40; value >>= 7 {
		code = append(code, byte(value)|0x80)
	}
	return append(code, byte(value))
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
			p.globals++
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

// readGlobals looks for references to functions of WASI.
func (p *preparation) readGlobals(r *reader) {
	for count := r.uint(); count > 0 && !r.bad; count-- {
		r.uints(2)
		p.globals++
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
	made := make([]byte, 0, len(r.rest)*9/8)
	if p.checks {
		made = binary.AppendUvarint(made, count+1)
	} else {
		made = binary.AppendUvarint(made, count)
	}
	for ; count > 0 && !r.bad && p.failed == nil; count-- {
		body := r.sized()
		p.bound("bytes in a function", uint64(len(body)), maxFunction)
		if p.failed == nil {
			body = p.function(body)
		}
		made = binary.AppendUvarint(made, uint64(len(body)))
		made = append(made, body...)
	}
	if p.checks {
		look := p.look()
		made = append(binary.AppendUvarint(made, uint64(len(look))), look...)
	}
	p.read(r)
	return made
}

// fuel is how many loops and functions begin between two calls of look. Only there can Go's
// collector stop the guest: what is in between should take less than a millisecond.
const fuel = 10_000

// look is a function that ends the guest where it is to stop. Growing the memory by nothing
// leaves the compiled code: Go's collector may run.
func (p *preparation) look() []byte {
	body := []byte{0, opI32Const, 0, opMemoryGrow, 0, opDrop}
	body = binary.AppendUvarint(append(body, opGlobalGet), p.globals+1)
	body = append(body, opIf, 0x40, opUnreachable, opEnd)
	body = binary.AppendUvarint(append(i32Const(body, fuel), opGlobalSet), p.globals)
	return append(body, opEnd)
}

// callLook calls it.
func (p *preparation) callLook() []byte {
	return binary.AppendUvarint([]byte{opCall}, uint64(len(p.effort.functions)))
}

// check uses up fuel.
func (p *preparation) check() []byte {
	get := binary.AppendUvarint([]byte{opGlobalGet}, p.globals)
	set := binary.AppendUvarint([]byte{opGlobalSet}, p.globals)
	return slices.Concat(get, []byte{opI32Const, 1, opI32Sub}, set,
		get, []byte{opI32Eqz, opIf, 0x40}, p.callLook(), []byte{opEnd})
}

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
		switch {
		case p.takesTime(i):
			made = append(append(made, code[kept:at]...), p.callLook()...)
			kept = at
		case p.checks && i.op == opLoop:
			at = len(code) - len(r.rest)
			made = append(append(made, code[kept:at]...), p.check()...)
			kept = at
		}
	}
	p.read(&r)
	p.bound("blocks and jumps in a function", p.effort.branches, maxBranches)
	p.bound("blocks and jumps, times local variables, in a function", p.effort.branches*p.effort.locals, maxLocals)
	p.bound("blocks and jumps, times values, in a function", p.effort.operands, maxOperands)
	made = append(made, code[kept:]...)
	if p.checks && (calls || len(code) > maxLeaf) {
		made = slices.Insert(made, head, p.check()...)
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
