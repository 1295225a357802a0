package module

import "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

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

// sections are in the order in which a module has them.
var sections = []struct {
	id   byte
	name string
	read func(*module, *reader)
}{
	{sectionType, "type", (*module).readTypes},
	{sectionImport, "import", (*module).readImports},
	{sectionFunction, "function", (*module).readFunctions},
	{sectionTable, "table", (*module).readTables},
	{sectionMemory, "memory", (*module).readMemories},
	{sectionGlobal, "global", (*module).readGlobals},
	{sectionExport, "export", (*module).readExports},
	{sectionStart, "start", (*module).readStart},
	{sectionElement, "element", (*module).readElements},
	{sectionDataCount, "data count", (*module).readDataCount},
	{sectionCode, "code", (*module).readCode},
	{sectionData, "data", (*module).readData},
}

// What imports and exports are of.
const (
	kindFunction = 0
	kindTable    = 1
	kindMemory   = 2
	kindGlobal   = 3
)

type signature struct{ parameters, results int }

func (m *module) readTypes(r *reader) {
	for range r.count(maxTypes, "types") {
		if form := r.byte(); form != typeFunction {
			r.fail("type 0x%x is no function", form)
		}
		m.types = append(m.types, signature{parameters: m.readValues(r), results: m.readValues(r)})
	}
}

func (m *module) readValues(r *reader) int {
	n := r.count(maxParameters, "parameters or results")
	for range n {
		r.valueType()
	}
	return n
}

func (m *module) readImports(r *reader) {
	for range r.count(maxImports, "imports") {
		from := r.text()
		r.text()
		switch kind := r.byte(); kind {
		case kindFunction:
			m.functions = append(m.functions, r.index(len(m.types), "types"))
			m.wasi = append(m.wasi, from == wasi_snapshot_preview1.ModuleName)
		case kindTable:
			m.tables = append(m.tables, r.table())
			m.importedTables++
		case kindMemory:
			r.limits()
			m.memories++
		case kindGlobal:
			r.globalType()
			m.globals++
		default:
			r.fail("import of kind 0x%x", kind)
		}
	}
	m.importedGlobals = m.globals
}

func (m *module) readFunctions(r *reader) {
	for range r.count(maxFunctions, "functions") {
		m.functions = append(m.functions, r.index(len(m.types), "types"))
	}
}

// readTables reads them, and gives each a maximum: what all may grow by is parted among them.
func (m *module) readTables(r *reader) {
	n := r.count(maxTables, "tables")
	entries := int64(0)
	for range n {
		t := r.table()
		m.tables = append(m.tables, t)
		entries += t.least
	}
	if entries > maxInTables {
		r.fail("%d entries in tables, and at most %d are taken", entries, maxInTables)
		return
	}
	made := appendUint(nil, n)
	for _, t := range m.tables[m.importedTables:] {
		most := min(t.most, t.least+(maxInTables-entries)/int64(n))
		made = append(made, t.of, 1)
		made = appendUint(made, int(t.least))
		made = appendUint(made, int(most))
	}
	m.sections[sectionTable] = made
}

func (m *module) readMemories(r *reader) {
	for range r.count(1, "memories") {
		r.limits()
		m.memories++
	}
}

func (m *module) readGlobals(r *reader) {
	for range r.count(maxGlobals, "globals") {
		r.globalType()
		m.readExpression(r)
		m.globals++
	}
}

func (m *module) readExports(r *reader) {
	for range r.count(maxExports, "exports") {
		name := r.text()
		if name == StopGlobal || name == StartFunction {
			r.fail("export %q is the host's own", name)
		}
		switch kind := r.byte(); kind {
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
		default:
			r.fail("export of kind 0x%x", kind)
		}
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
	m.elements = r.count(maxModule, "segments of elements")
	for range m.elements {
		flags := r.kind(elementPassive | elementExplicit | elementExpressions)
		m.readElementHeader(r, flags)
		for range r.count(maxElements, "elements") {
			if flags&elementExpressions != 0 {
				m.readExpression(r)
			} else {
				m.refersTo(r.index(len(m.functions), "functions"))
			}
		}
	}
}

func (m *module) readElementHeader(r *reader, flags int) {
	explicit := flags&(elementPassive|elementExplicit) != 0
	if flags&elementPassive == 0 {
		if explicit {
			r.index(len(m.tables), "tables")
		}
		m.readExpression(r) // the offset
	}
	switch {
	case explicit && flags&elementExpressions != 0:
		r.referenceType()
	case explicit:
		r.reserved() // functions
	}
}

func (m *module) readDataCount(r *reader) { m.dataCount = r.int(maxData, "segments of data") }

func (m *module) readCode(r *reader) {
	n := r.count(maxFunctions, "functions")
	for range n {
		body := r.sized()
		if len(body) > maxFunction {
			r.fail("a function of %d bytes, and at most %d are taken", len(body), maxFunction)
		}
		m.bodies = append(m.bodies, body)
	}
}

// How a segment of data is written.
const (
	dataActive  = 0
	dataPassive = 1
	dataInNamed = 2 // the memory is named
)

func (m *module) readData(r *reader) {
	m.data = r.count(maxData, "segments of data")
	for range m.data {
		kind := r.kind(dataInNamed)
		if kind == dataInNamed {
			r.index(m.memories, "memories")
		}
		if kind != dataPassive {
			m.readExpression(r) // the offset
		}
		r.sized()
	}
}

// readExpression passes over a constant expression.
func (m *module) readExpression(r *reader) {
	for r.err == nil {
		switch op := r.byte(); op {
		case opEnd:
			return
		case opGlobalGet:
			r.index(m.importedGlobals, "imported globals")
		case opRefFunc:
			m.refersTo(r.index(len(m.functions), "functions"))
		case opVector:
			if sub := r.byte(); sub != vectorConst {
				r.fail("vector instruction 0x%x is no constant", sub)
			}
			r.bytes(16)
		default:
			r.constant(op)
		}
	}
}

// refersTo notes a reference to a function. Code refers to those only that such a reference declares.
func (m *module) refersTo(function int) {
	m.wasiReferred = m.wasiReferred || m.isWASI(function)
}

func (m *module) isWASI(function int) bool { return function < len(m.wasi) && m.wasi[function] }

// readNames reads names as wazero does, which makes room for as many as there are said to be. Those of functions are kept.
func readNames(r *reader) []byte {
	kept := appendSized(nil, []byte("name"))
	for r.more() {
		of := r.byte()
		content := r.sized()
		names := &reader{rest: content}
		switch of {
		case 0: // the module
			names.text()
		case 1: // functions
			readNameMap(names)
			kept = appendSized(append(kept, of), content)
		case 2: // local variables
			for range names.count(maxFunctions, "functions") {
				names.uint()
				readNameMap(names)
			}
		default:
			names.rest = nil
		}
		if names.more() {
			names.fail("%d bytes too many in names", len(names.rest))
		}
		if names.err != nil {
			r.fail("%w", names.err)
		}
	}
	return kept
}

func readNameMap(r *reader) {
	for range r.count(maxFunctions, "names") {
		r.uint()
		r.text()
	}
}
