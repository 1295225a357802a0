// Package module checks a guest, and puts a meter into it: bytes of a guest in, bytes of a checked and metered guest
// out. It compiles nothing and runs nothing.
//
// Checked is what wazero trusts or reads differently, before anything is added to the module. Each index stays below what
// the guest itself has, each type and instruction is written as WebAssembly 2.0 writes it, and each count is bounded
// (limits.go). So what follows reads the same instructions as wazero. Whether their types match, wazero checks.
//
// Metered means that instructions use up fuel. Where it is used up, a function of the host's leaves the compiled code, so
// that Go's collector can run, and ends the guest if the host has set a variable. So a guest of any shape ends soon after
// that. What is charged where is in meter.go.
package module

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// What a metered guest exports for the host.
const (
	StopGlobal    = "wasmhost.stop"  // a variable: the guest ends soon where it is not zero
	StartFunction = "wasmhost.start" // the function of the start section, which the host calls
)

// Prepared is a guest that was checked.
type Prepared struct {
	Wasm []byte `json:"-"` // as it is to be compiled
	// Constants are what exported functions return that do nothing else.
	Constants map[string]uint64
	// TableBytes is what the tables of an instance take.
	TableBytes int64
}

// Prepare checks a guest, and returns it as it is to be compiled. Metered is what has a memory: without one it is no
// guest. Tables do not grow, and what is only for debuggers is dropped. The time and memory that it takes are
// proportional to the size of the guest.
func Prepare(wasm []byte, meter bool) (*Prepared, error) {
	m, err := read(wasm)
	if err != nil {
		return nil, fmt.Errorf("wasm: guest is refused: %w", err)
	}
	leaves, err := m.readBodies()
	if err != nil {
		return nil, fmt.Errorf("wasm: guest is refused: code section: %w", err)
	}
	constants := m.constants()
	if meter && m.memories > 0 {
		m.meter(leaves)
	}
	return &Prepared{Wasm: m.write(), Constants: constants, TableBytes: m.tableBytes}, nil
}

// header begins a module: magic and version.
const header = "\x00asm\x01\x00\x00\x00"

// componentVersion is in the header of a component, where a module has 1.
const componentVersion = "\x0d\x00\x01\x00"

func checkHeader(wasm []byte) error {
	switch {
	case len(wasm) < len(header):
		return fmt.Errorf("the file is cut off: it has %d bytes, and a module has %d at least", len(wasm), len(header))
	case string(wasm[4:len(header)]) == componentVersion:
		return errors.New("it is a component of the component model, and not a module: build it for WASI preview 1 (wasip1)")
	case string(wasm[:len(header)]) != header:
		return errors.New("it is no WebAssembly module of version 1")
	}
	return nil
}

// module is what was read of a guest. Imported functions, tables and globals come first.
type module struct {
	sections [sectionDataCount + 1][]byte // their contents; nil is none
	names    []byte                       // of functions, likewise

	types           []signature
	values          int    // parameters and results of these
	functions       []int  // their types
	wasi            []bool // of each imported function: it is one of WASI's, whose time the guest chooses
	wasiReferred    bool   // one of these may be called indirectly
	tables          []table
	importedTables  int
	memories        int
	globals         int
	importedGlobals int
	exports         map[string]int // functions
	start           int            // -1: there is none
	tableBytes      int64
	elements        int      // segments, and what is in them
	dataCount       int      // -1: it does not say
	data            int      // segments
	bodies          [][]byte // of functions that are not imported
}

func read(wasm []byte) (*module, error) {
	if err := checkHeader(wasm); err != nil {
		return nil, err
	}
	m := &module{exports: map[string]int{}, start: -1, dataCount: -1}
	r := &reader{rest: wasm[len(header):]}
	next := 0 // in sections
	for len(r.rest) > 0 {
		id := r.byte()
		section := &reader{rest: r.sized()}
		name := "custom"
		if id == sectionCustom {
			m.readCustom(section)
		} else {
			for next < len(sections) && sections[next].id != id {
				next++
			}
			if next == len(sections) {
				r.fail("section %d is out of order, or not of WebAssembly 2.0", id)
				break
			}
			name = sections[next].name
			m.readSection(section, next)
			next++
		}
		if section.err != nil {
			r.fail("%s section: %w", name, section.err)
		}
	}
	defined := len(m.functions) - len(m.wasi)
	if len(m.bodies) != defined {
		r.fail("%d functions, and code of %d", defined, len(m.bodies))
	}
	if m.dataCount >= 0 && m.dataCount != m.data {
		r.fail("%d segments of data, and %d are counted", m.data, m.dataCount)
	}
	m.boundTables(r)
	return m, r.err
}

func (m *module) readSection(r *reader, number int) {
	of := sections[number]
	m.sections[of.id] = r.rest
	entries := 1
	if of.most > 0 {
		entries = r.count(of.most, "entries")
	}
	for range entries {
		of.read(m, r)
	}
	r.end()
}

// readBodies reads all code, and returns what the callers of each function pay for it, or notLeaf.
func (m *module) readBodies() (leaves []int, err error) {
	locals := 0
	for number := range m.bodies {
		f, err := m.readCode(number)
		if err != nil {
			return nil, err
		}
		locals += f.locals
		if locals > maxAllLocals {
			return nil, fmt.Errorf("more than %d local variables in all functions", maxAllLocals)
		}
		leaves = append(leaves, f.leaf())
	}
	return leaves, nil
}

func (m *module) write() []byte {
	out := []byte(header)
	for _, of := range sections {
		content := m.sections[of.id]
		if content != nil {
			out = appendSized(append(out, of.id), content)
		}
	}
	if m.names != nil {
		out = appendSized(append(out, sectionCustom), m.names)
	}
	return out
}

// extend appends entries to the list that a section is.
func (m *module) extend(section byte, entries ...[]byte) {
	r := &reader{rest: m.sections[section]}
	n := int(r.uint()) // 0 without a section
	made := appendUint(nil, n+len(entries))
	m.sections[section] = append(append(made, r.rest...), slices.Concat(entries...)...)
}

func appendUint(b []byte, v int) []byte { return binary.AppendUvarint(b, uint64(v)) }

func appendSized(b, content []byte) []byte { return append(appendUint(b, len(content)), content...) }
