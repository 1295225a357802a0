package abi

import (
	"encoding/binary"
	"errors"
)

// module is what of a guest's binary wazero does not show.
type module struct {
	// constants are what the hooks return whose body does nothing else. Guests on
	// the SDK export every hook, and those that they do not implement are such.
	constants map[string]uint64
	// minPages and maxPages are how big the memory is at once, and how big it may
	// become, by its own declaration. maxPages is zero where it says nothing.
	minPages, maxPages uint32
}

// The sections of a module that count here, and the one kind of export.
const (
	sectionImport   = 2
	sectionMemory   = 5
	sectionExport   = 7
	sectionCode     = 10
	externFunction  = 0
	externTable     = 1
	externMemory    = 2
	externGlobal    = 3
	opNop           = 0x01
	opEnd           = 0x0b
	opReturn        = 0x0f
	opI32Const      = 0x41
	opI64Const      = 0x42
	limitsHaveMax   = 1
	headerOfModules = 8 // bytes: magic and version
)

// inspect reads a module. Of one that it does not understand it says nothing:
// wazero judges whether it is valid.
func inspect(wasm []byte) (m module) {
	defer func() {
		if err, _ := recover().(error); err != nil {
			m = module{}
		}
	}()
	if len(wasm) < headerOfModules {
		return m
	}
	r := &reader{wasm[headerOfModules:]}
	imported, exported, bodies := 0, map[string]int{}, [][]byte(nil)
	for len(r.rest) > 0 {
		id := r.byte()
		section := &reader{r.bytes(r.uint())}
		switch id {
		case sectionImport:
			imported = section.importedFunctions()
		case sectionMemory:
			if section.uint() > 0 {
				m.minPages, m.maxPages = section.limits()
			}
		case sectionExport:
			exported = section.exportedFunctions()
		case sectionCode:
			for range section.uint() {
				bodies = append(bodies, section.bytes(section.uint()))
			}
		}
	}
	m.constants = map[string]uint64{}
	for name, index := range exported {
		if index -= imported; index >= 0 && index < len(bodies) {
			if value, ok := constant(bodies[index]); ok {
				m.constants[name] = value
			}
		}
	}
	return m
}

// constant is what a function returns that has one constant for a body, or
// nothing at all.
func constant(body []byte) (value uint64, ok bool) {
	r := &reader{body}
	if r.uint() != 0 { // locals
		return 0, false
	}
	pushed := false
	for {
		switch r.byte() {
		case opNop:
		case opReturn:
			return value, true // what follows is not reached
		case opEnd:
			return value, len(r.rest) == 0
		case opI32Const:
			if pushed {
				return 0, false
			}
			pushed, value = true, uint64(uint32(r.int()))
		case opI64Const:
			if pushed {
				return 0, false
			}
			pushed, value = true, uint64(r.int())
		default:
			return 0, false
		}
	}
}

// reader reads Wasm's encoding. It panics with errShort at the end.
type reader struct{ rest []byte }

var errShort = errors.New("the module ends early")

func (r *reader) byte() byte { return r.bytes(1)[0] }

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		panic(errShort)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// uint reads an unsigned LEB128.
func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		panic(errShort)
	}
	r.rest = r.rest[n:]
	return v
}

// int reads a signed LEB128.
func (r *reader) int() (v int64) {
	for shift := uint(0); ; {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if shift += 7; b&0x80 == 0 {
			if shift < 64 && b&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
		if shift > 63 {
			panic(errShort)
		}
	}
}

func (r *reader) name() string { return string(r.bytes(r.uint())) }

// limits reads the limits of a memory or table.
func (r *reader) limits() (lower, upper uint32) {
	flags := r.byte()
	lower = uint32(min(r.uint(), 1<<16))
	if flags&limitsHaveMax != 0 {
		upper = uint32(min(r.uint(), 1<<16))
	}
	return lower, upper
}

func (r *reader) importedFunctions() (functions int) {
	for range r.uint() {
		r.name()
		r.name()
		switch kind := r.byte(); kind {
		case externFunction:
			r.uint()
			functions++
		case externTable:
			r.byte()
			r.limits()
		case externMemory:
			r.limits()
		case externGlobal:
			r.bytes(2)
		default:
			panic(errShort)
		}
	}
	return functions
}

func (r *reader) exportedFunctions() map[string]int {
	exported := map[string]int{}
	for range r.uint() {
		name, kind, index := r.name(), r.byte(), r.uint()
		if kind == externFunction {
			exported[name] = int(index)
		}
	}
	return exported
}
