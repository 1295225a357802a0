package module

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

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
	got, err := filter(t, prepared.Wasm)
	if err != nil || got != 7 {
		t.Error(got, err)
	}
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
