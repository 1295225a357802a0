package module

import (
	"strings"

	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
)

// sections are in the order in which a module has them. Each but two is a list of some entries at most.
var sections = []struct {
	id   byte
	name string
	most int                    // 0: it is no list
	read func(*module, *reader) // an entry
}{
	{sectionType, "type", maxTypes, (*module).readType},
	{sectionImport, "import", maxImports, (*module).readImport},
	{sectionFunction, "function", maxFunctions, (*module).readFunction},
	{sectionTable, "table", maxTables, func(m *module, r *reader) { m.tables = append(m.tables, r.table()) }},
	{sectionMemory, "memory", 1, (*module).readMemory},
	{sectionGlobal, "global", maxGlobals, (*module).readGlobal},
	{sectionExport, "export", maxExports, (*module).readExport},
	{sectionStart, "start", 0, (*module).readStart},
	{sectionElement, "element", maxElements, (*module).readElements},
	{sectionDataCount, "data count", 0, func(m *module, r *reader) { m.dataCount = r.int(maxData, "segments of data") }},
	{sectionCode, "code", maxFunctions, (*module).readBody},
	{sectionData, "data", maxData, (*module).readData},
}

// What imports and exports are of.
const (
	kindFunction = 0
	kindTable    = 1
	kindMemory   = 2
	kindGlobal   = 3
	kinds        = "\x00\x01\x02\x03"
)

type signature struct{ parameters, results int }

func (m *module) readType(r *reader) {
	r.oneOf("\x60", "type")
	of := signature{parameters: r.values(), results: r.values()}
	m.types = append(m.types, of)
	m.values += of.parameters + of.results
	if m.values > maxValues {
		r.fail("%d parameters and results in all types, and at most %d are taken", m.values, maxValues)
	}
}

func (r *reader) values() int {
	n := r.count(maxParameters, "parameters or results")
	for range n {
		r.oneOf(valueTypes, "type")
	}
	return n
}

func (m *module) readImport(r *reader) {
	from := r.name()
	r.name()
	switch r.oneOf(kinds, "import of kind") {
	case kindFunction:
		m.readFunction(r)
		m.wasi = append(m.wasi, from == wasi_snapshot_preview1.ModuleName)
	case kindTable:
		m.tables = append(m.tables, r.table())
		m.importedTables++
	case kindMemory:
		m.readMemory(r)
	case kindGlobal:
		r.globalType()
		m.globals++
		m.importedGlobals++
	}
}

func (m *module) readFunction(r *reader) {
	m.functions = append(m.functions, r.index(len(m.types), "types"))
}

func (m *module) readMemory(r *reader) {
	r.limits()
	m.memories++
}

func (m *module) readGlobal(r *reader) {
	r.globalType()
	m.readExpression(r)
	m.globals++
}

func (m *module) readExport(r *reader) {
	name := r.name()
	if name == StopGlobal || name == StartFunction {
		r.fail("export %q is the host's own", name)
	}
	switch r.oneOf(kinds, "export of kind") {
	case kindFunction:
		f := r.index(len(m.functions), "functions")
		m.exports[name] = f
		m.refersTo(f)
	case kindTable:
		r.index(len(m.tables), "tables")
	case kindMemory:
		r.index(m.memories, "memories")
	case kindGlobal:
		r.index(m.globals, "globals")
	}
}

func (m *module) readStart(r *reader) {
	m.start = r.index(len(m.functions), "functions")
	if r.err == nil && m.types[m.functions[m.start]] != (signature{}) {
		r.fail("the start function has parameters or results") // once it is exported, wazero does not look
	}
}

// How a segment of elements is written.
const (
	elementPassive     = 1
	elementExplicit    = 2 // the table is named; where it is passive, it is only declared
	elementExpressions = 4
)

func (m *module) readElements(r *reader) {
	m.elements++
	flags := r.index(8, "kinds of segments")
	explicit := flags&(elementPassive|elementExplicit) != 0
	if flags&elementPassive == 0 {
		if explicit {
			r.index(len(m.tables), "tables")
		}
		m.readExpression(r) // the offset
	}
	if explicit && flags&elementExpressions != 0 {
		r.oneOf(referenceTypes, "type")
	} else if explicit {
		r.oneOf("\x00", "kind of elements") // functions
	}
	count := r.count(maxElements-m.elements, "elements")
	m.elements += count
	for range count {
		if flags&elementExpressions != 0 {
			m.readExpression(r)
		} else {
			m.refersTo(r.index(len(m.functions), "functions"))
		}
	}
}

func (m *module) readBody(r *reader) {
	body := r.sized()
	if len(body) > maxFunction {
		r.fail("a function of %d bytes, and at most %d are taken", len(body), maxFunction)
	}
	m.bodies = append(m.bodies, body)
}

// How a segment of data is written.
const (
	dataPassive = 1
	dataInNamed = 2 // the memory is named
)

func (m *module) readData(r *reader) {
	m.data++
	kind := r.index(3, "kinds of segments")
	if kind == dataInNamed {
		r.index(m.memories, "memories")
	}
	if kind != dataPassive {
		m.readExpression(r) // the offset
	}
	r.sized()
}

// readExpression passes over a constant expression.
func (m *module) readExpression(r *reader) {
	for r.err == nil {
		op, i := r.instruction()
		index := m.immediates(r, i, 0, 0)
		switch {
		case op == opEnd:
			return
		case op == opRefFunc:
			m.refersTo(index)
		case op == opGlobalGet && index < m.importedGlobals:
		case op >= opI32Const && op <= opF64Const, op == opRefNull, i == vectors[vectorConst]:
		default:
			r.fail("instruction 0x%x is not constant", op)
		}
	}
}

// refersTo notes a reference to a function. Code refers only to functions that such a reference declares.
func (m *module) refersTo(function int) {
	m.wasiReferred = m.wasiReferred || m.isWASI(function)
}

func (m *module) isWASI(function int) bool { return function < len(m.wasi) && m.wasi[function] }

// boundTables gives each table its size as its maximum: no toolchain makes code that has one grow.
func (m *module) boundTables(r *reader) {
	own := m.tables[m.importedTables:]
	entries := int64(0)
	for _, t := range own {
		entries += t.least
	}
	if entries > maxInTables {
		r.fail("%d entries in tables, and at most %d are taken", entries, maxInTables)
		return
	}
	m.tableBytes = entries*tableEntry + int64(m.elements)*elementEntry
	made := appendUint(nil, len(own))
	for _, t := range own {
		made = append(made, t.of, 1)
		made = appendUint(made, int(t.least))
		made = appendUint(made, int(t.least))
	}
	if m.sections[sectionTable] != nil {
		m.sections[sectionTable] = made
	}
}

// namesOfFunctions is the part of the section with names that is kept.
const namesOfFunctions = 1

// readCustom keeps the names of functions, for errors. The rest is for debuggers, about code that may move.
func (m *module) readCustom(r *reader) {
	if r.text() != "name" {
		return
	}
	if m.names != nil {
		r.fail("there are two with names")
	}
	m.names = appendSized(nil, []byte("name"))
	for len(r.rest) > 0 {
		of := r.byte()
		names := &reader{rest: r.sized()}
		if of != namesOfFunctions {
			continue
		}
		count := names.count(maxFunctions, "names") // wazero makes room for as many as there are said to be
		kept := appendUint(make([]byte, 0, len(names.rest)), count)
		for range count {
			kept = appendUint(kept, int(names.uint()))
			name := names.text()
			kept = appendSized(kept, []byte(strings.ToValidUTF8(name[:min(len(name), maxName)], "")))
		}
		m.names = appendSized(append(m.names, of), kept)
		names.end()
		if names.err != nil {
			r.fail("%w", names.err)
		}
	}
}
