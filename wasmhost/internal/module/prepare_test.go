package module

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestPrepareRefuses(t *testing.T) {
	const appended = imported + 1 // the first function that a meter adds to a guest with one
	locals := func(n int) []byte { return join(list(join(n, []byte{typeI32})), i32(7), []byte{opEnd}) }
	block := func(t ...byte) []byte { return join([]byte{opBlock}, t, []byte{opUnreachable, opEnd}) }
	vector := func(sub ...byte) []byte {
		return join([]byte{opVector}, sub, bytes.Repeat([]byte{opNop}, 16), []byte{opDrop})
	}
	section := func(id byte, content ...any) guest {
		return guest{filter: body(0, i32(7)), more: map[byte][]byte{id: join(content...)}}
	}
	manyLocals := guest{filter: body(0, i32(7))}
	for range 6 {
		manyLocals.functions = append(manyLocals.functions, locals(maxLocals-1))
	}
	const most = math.MaxUint32

	for name, tc := range map[string]struct {
		guest guest
		want  string
	}{
		"a global that a meter adds, set":           {answers(i32(9), op(opGlobalSet, 0)), "index 0, but there are 0 globals"},
		"a global that a meter adds, exported":      {guest{filter: body(0, i32(7)), exports: [][]byte{join("g", kindGlobal, 0)}}, "globals"},
		"a function that a meter adds, called":      {answers(op(opCall, appended)), "functions"},
		"and exported as a hook":                    {guest{filter: body(0, i32(7)), exports: [][]byte{join("score", kindFunction, appended)}}, "functions"},
		"and in a table":                            {guest{filter: body(0, i32(7)), elements: [][]byte{join(0, i32(0), []byte{opEnd}, 1, appended)}}, "functions"},
		"and in a table, by an expression":          {guest{filter: body(0, i32(7)), elements: [][]byte{join(4, i32(0), []byte{opEnd}, 1, op(opRefFunc, appended), []byte{opEnd})}}, "functions"},
		"and in a global":                           {guest{filter: body(0, i32(7)), globals: [][]byte{join([]byte{typeFuncref, 0}, op(opRefFunc, appended), []byte{opEnd})}}, "functions"},
		"and as the start":                          {section(sectionStart, appended), "functions"},
		"a start that takes parameters":             {section(sectionStart, randomGet), "parameters"},
		"a signature that a meter adds, of a block": {answers(block(3)), "type 3 of a block"},
		"and of an indirect call":                   {answers(i32(0), op(opCallIndirect, 3, 0)), "types"},
		"an export for the host":                    {guest{filter: body(0, i32(7)), exports: [][]byte{join(StopGlobal, kindFunction, imported)}}, "host's own"},
		"a block of a typed reference":              {answers(block(0x63, 0x70)), "of a block"},
		"a block of an i32 that is written long":    {answers(block(0xff, 0x7f)), "of a block"},
		"a select of a typed reference":             {answers([]byte{opTypedSelect, 1, 0x63, 0x70}), "type 0x63"},
		"a select of two types":                     {answers([]byte{opTypedSelect, 2, typeI32, typeI32}), "byte 0x2 is not"},
		"a select whose count is written long":      {answers([]byte{opTypedSelect, 0x81, 0, typeI32}), "byte 0x81 is not"},
		"a null of a typed reference":               {answers([]byte{opRefNull, 0x63, 0x70, opDrop}), "type 0x63"},
		"a local variable of a typed reference":     {guest{filter: join(1, 1, []byte{0x63, 0x70}, i32(7), []byte{opEnd})}, "type 0x63"},
		"a parameter of a typed reference":          {guest{filter: body(0, i32(7)), types: [][]byte{{typeFunction, 1, 0x64, 0x70, 0}}}, "type 0x64"},
		"a table of a typed reference":              {section(sectionTable, 1, []byte{0x63, 0x70, 0, 1}), "type 0x63"},
		"a table with an initial value":             {section(sectionTable, 1, []byte{0x40, 0, typeFuncref, 0, 1, opRefNull, typeFuncref, opEnd}), "type 0x40"},
		"a global of a typed reference":             {guest{filter: body(0, i32(7)), globals: [][]byte{{0x64, 0x70, 0, opRefNull, typeFuncref, opEnd}}}, "type 0x64"},
		"a vector instruction that is written long": {answers(vector(0x8c, 0x00)), "byte 0x0 is not"},
		"a bulk instruction that is written long":   {answers(i32(0), i32(0), i32(0), []byte{opBulk, 0x8b, 0, 0}), "instruction 0xfc 0x8b"},
		"an instruction of a later proposal":        {answers([]byte{0x06, typeNone, opEnd}), "instruction 0x06 is not"},
		"an else without an if":                     {answers([]byte{opBlock, typeNone, opElse, opEnd}), "an else without an if"},
		"code after the end":                        {answers(i32(7), []byte{opEnd}), "after its end"},
		"no end":                                    {guest{filter: join(0, i32(7))}, "cut off"},
		"a rec group":                               {section(sectionType, 1, []byte{0x4e, 1, typeFunction, 0, 0}), "type 0x4e"},
		"a constant that is computed":               {guest{filter: body(0, i32(7)), globals: [][]byte{join([]byte{typeI32, 0}, i32(1), i32(1), []byte{0x6a, opEnd})}}, "instruction 0x6a"},
		"one local variable too many":               {guest{filter: locals(maxLocals + 1)}, "further local variables"},
		"too many in all functions":                 {manyLocals, "more than 262144 local variables"},
		"too many parameters":                       {guest{filter: body(0, i32(7)), types: [][]byte{join(typeFunction, maxParameters+1, bytes.Repeat([]byte{typeI32}, maxParameters+1), 0)}}, "parameters"},
		"too long a function":                       {answers(bytes.Repeat([]byte{opNop}, maxFunction)), "bytes, and at most 7654321"},
		"too many entries in tables":                {section(sectionTable, 2, []byte{typeFuncref, 0}, maxInTables, []byte{typeExternref, 0}, 1), "entries in tables"},
		"types that are not":                        {section(sectionType, most), "type section: 4294967295 entries"},
		"functions without code":                    {section(sectionFunction, 2, 0, 0), "2 functions, and code of 1"},
		"elements that are not":                     {section(sectionElement, 1, []byte{1, 0}, most), "elements"},
		"data that is not":                          {section(sectionData, most), "data section: 4294967295 entries"},
		"segments of data that are counted only":    {section(sectionDataCount, 9), "9 are counted"},
		"targets that are not":                      {answers(i32(0), op(opBrTable, most)), "targets"},
		"a jump too far":                            {answers(op(opBr, 1)), "blocks"},
		"names that are not":                        {section(sectionCustom, "name", 1, sized(most)), "names"},
		"more than a section has":                   {section(sectionDataCount, 0, 0), "1 bytes after its end"},
	} {
		for _, meter := range []bool{true, false} {
			_, err := Prepare(tc.guest.wasm(), meter)
			if err == nil || !strings.HasPrefix(err.Error(), "wasm: guest is refused: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", name, err, tc.want)
			}
		}
	}
}

func TestPrepareRefusesSectionsThatAreNotInOrder(t *testing.T) {
	wasm := answers().wasm()
	for name, section := range map[string][]byte{"of a later proposal": {13, 1, 0}, "twice": {sectionCode, 1, 0}, "too late": {sectionType, 1, 0}} {
		_, err := Prepare(append(wasm, section...), true)
		if err == nil || !strings.Contains(err.Error(), "out of order, or not of WebAssembly 2.0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPrepareRefusesWhatIsCutOff(t *testing.T) {
	wasm := answers().wasm()
	ends := map[int]bool{} // of sections: code and data may follow, or not
	for n := range wasm {
		_, err := Prepare(wasm[:n], true)
		if err == nil {
			ends[n] = true
		}
	}
	if len(ends) > len(sections) {
		t.Errorf("cut off at %v it was taken", ends)
	}
}

// A table of 2^27 entries would take 1 GiB.
func TestTablesDoNotGrow(t *testing.T) {
	grow := func(by int) []byte {
		return join([]byte{opRefNull, typeFuncref}, i32(by), op(opBulk, bulkTableGrow, 0))
	}
	for by, want := range map[int]int32{0: 64, 1: -1, maxInTables: -1} {
		for _, meter := range []bool{true, false} {
			prepared, err := Prepare(guest{filter: body(0, grow(by))}.wasm(), meter)
			testkit.Must(t, err)
			testkit.Equal(t, filter(t, prepared.Wasm), want, "by %d", by)
		}
	}
}

func TestPrepareExportsTheStart(t *testing.T) {
	starts := guest{filter: body(0, []byte{opUnreachable}), more: map[byte][]byte{
		sectionType:     list([]byte{typeFunction, 0, 0}),
		sectionImport:   list(),
		sectionFunction: list([]byte{0}),
		sectionExport:   list(join("memory", kindMemory, 0)),
		sectionStart:    join(0),
	}}
	prepared, err := Prepare(starts.wasm(), true)
	testkit.Must(t, err)
	i := instantiate(t, prepared.Wasm) // which would fail if it ran
	if _, err := i.call(t, StartFunction); err == nil {
		t.Error("the start function did not run")
	}
}

func TestConstants(t *testing.T) {
	for _, tt := range []struct {
		name string
		body []byte
		want uint64
		ok   bool
	}{
		{"nothing", []byte{0, opEnd}, 0, true},
		{"a nop", []byte{0, opNop, opEnd}, 0, true},
		{"i32.const 5", []byte{0, opI32Const, 5, opEnd}, 5, true},
		{"i32.const -1", []byte{0, opI32Const, 0x7f, opEnd}, 0xffffffff, true},
		{"i64.const 1<<32", []byte{0, opI64Const, 0x80, 0x80, 0x80, 0x80, 0x10, opEnd}, 1 << 32, true},
		{"i64.const -1", []byte{0, opI64Const, 0x7f, opEnd}, 1<<64 - 1, true},
		{"return", []byte{0, opI32Const, 5, opReturn, opEnd}, 5, true},
		{"unreachable", []byte{0, opUnreachable, opEnd}, 0, false},
		{"a local", body(1, op(opLocalGet, 0)), 0, false},
		{"a call", []byte{0, opCall, severity, opEnd}, 0, false},
	} {
		prepared, err := Prepare(guest{filter: tt.body}.wasm(), true)
		testkit.Must(t, err)
		got, ok := prepared.Constants["filter"]
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %d %v", tt.name, got, ok)
		}
	}
}

// allocated is how many bytes it takes to prepare a module.
func allocated(wasm []byte) (bytes int64, prepared *Prepared, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	prepared, err = Prepare(wasm, true)
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), prepared, err
}

// mayTake is how many bytes it may take to prepare a module of a size.
func mayTake(size int) int64 { return 1<<20 + 200*int64(size) }

// wazero writes the names of thirty functions into an error.
func TestNamesOfFunctionsAreCut(t *testing.T) {
	long := strings.Repeat("é", 4<<20)
	named := guest{filter: body(0, i32(7)), more: map[byte][]byte{sectionCustom: join("name", namesOfFunctions, sized(list(join(imported, long))))}}
	prepared, err := Prepare(named.wasm(), true)
	testkit.Must(t, err)
	if len(prepared.Wasm) > 8<<10 || !bytes.Contains(prepared.Wasm, []byte(long[:maxName])) {
		t.Errorf("%d bytes", len(prepared.Wasm))
	}
	testkit.Equal(t, filter(t, prepared.Wasm), 7, "the answer")
}

// A few bytes ask for much.
func TestPrepareTakesLittleForManyOfAKind(t *testing.T) {
	many := func(of []byte, count int) []byte { return join(count, bytes.Repeat(of, count)) }
	for name, more := range map[string]map[byte][]byte{
		"functions":  {sectionFunction: many([]byte{0}, 1_000_000)},
		"types":      {sectionType: many([]byte{typeFunction, 0, 0}, 1_000_000)},
		"globals":    {sectionGlobal: many([]byte{typeI32, 0, opI32Const, 0, opEnd}, 1_000_000)},
		"parameters": {sectionType: many(join(typeFunction, 1000, bytes.Repeat([]byte{typeI32}, 1000), 0), 1000)},
		"a name":     {sectionImport: join(1, strings.Repeat("n", 10<<20), "", kindFunction, 0)},
		"imports":    {sectionImport: many(join("", "", kindFunction, 0), 1_000_000)},
		"exports":    {sectionExport: many(join("", kindFunction, 0), 1_000_000)},
		"elements":   {sectionElement: join(1, elementPassive, []byte{0}, many([]byte{0}, 10_000_000))},
	} {
		wasm := guest{filter: body(0, i32(7)), more: more}.wasm()
		took, _, err := allocated(wasm)
		if err == nil || !strings.Contains(err.Error(), "at most") || took > mayTake(0) {
			t.Errorf("%s: %d bytes for %d: %v", name, took, len(wasm), err)
		}
	}
}
