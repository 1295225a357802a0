package abi

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
)

// What wazero compiles, it must compile when it is prepared, too: these are the modules
// of the specification's own tests.
func TestWhatIsPreparedIsValid(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "internal/integration_test/spectest/v*/testdata/*.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	guests, _ := filepath.Glob("../../../testdata/guests/*.wasm")
	built, _ := filepath.Glob("../../../static/*.wasm")
	valid := 0
	for _, file := range append(append(files, guests...), built...) {
		wasm, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if validate(t, wasm) != nil {
			continue
		}
		prepared, err := prepare(wasm, true)
		if err == nil {
			err = validate(t, prepared)
		}
		if err != nil && !strings.HasSuffix(file, "v1/testdata/br_table.0.wasm") { // has 24,615 targets
			t.Errorf("%s: %v", file, err)
		}
		valid++
	}
	if valid < 2000 {
		t.Errorf("only %d modules were found", valid)
	}
}

// validate compiles for the interpreter, which takes less time.
func validate(t *testing.T, wasm []byte) error {
	t.Helper()
	runtime := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(context.Background())
	_, err := runtime.CompileModule(t.Context(), wasm)
	return err
}

func TestModulesThatWouldTakeTooLongAreNotCompiled(t *testing.T) {
	section := func(id byte, content ...byte) []byte {
		return append([]byte("\x00asm\x01\x00\x00\x00"), append([]byte{id, byte(len(content))}, content...)...)
	}
	for name, tc := range map[string]struct {
		wasm []byte
		want string // empty: it is compiled
	}{
		"values":                {module(1, livingValues(60_000)), ""},
		"a long function":       {module(1, livingValues(70_000)), "bytes in a function"},
		"nested blocks":         {module(1, nested(300)), ""},
		"deeply nested blocks":  {module(1, nested(25_000)), "blocks and jumps in a function"},
		"jumps":                 {module(1, jumps(200, 3_000)), ""},
		"many jumps":            {module(1, jumps(200, 30_000)), "blocks and jumps in a function"},
		"locals and jumps":      {module(100, merges(100, 100)), ""},
		"many locals and jumps": {module(1000, merges(1000, 1000)), "times local variables"},
		"values across blocks":  {module(1, across(100, 100)), ""},
		"many across blocks":    {module(1, across(1000, 1000)), "times values"},
		"too many locals":       {module(1<<31, nested(1)), "times local variables"},
		"a table":               {section(sectionTable, 1, 0x70, 0, 0x80, 0x80, 0x80, 0x80, 1), "entries in its tables"},
		"elements that are not": {section(sectionElement, 1, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f), "no WebAssembly 2.0"},
		"imports that are not":  {section(sectionImport, 0xff, 0xff, 0xff, 0xff, 0x0f), "no WebAssembly 2.0"},
		"data that is not":      {section(sectionData, 0xff, 0xff, 0xff, 0xff, 0x0f), "no WebAssembly 2.0"},
		"cut off":               {module(1, nested(300))[:400], "no WebAssembly 2.0"},
	} {
		_, err := prepare(tc.wasm, true)
		if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if tc.want == "" {
			if g, err := Compile(t.Context(), tc.wasm, interruptible); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if err := g.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
}

var interruptible = Options{MemoryLimit: 128 << 20, Interruptible: true}

// Each of these takes seconds, without a loop and without a call of a function of the
// guest's own.
func TestWhatTakesLongWithoutALoopIsInterrupted(t *testing.T) {
	i32 := func(values ...int32) (code []byte) {
		for _, v := range values {
			code = append(code, opI32Const)
			for ; v >= 0x40; v >>= 7 {
				code = append(code, byte(v)|0x80)
			}
			code = append(code, byte(v))
		}
		return code
	}
	const all, half, spaces = 64 << 20, 32 << 20, 4<<20 - 2
	braces := slices.Concat(i32(spaces, 0x7d7b), []byte{0x3b, 0, 0}, i32(0, ' ', spaces), []byte{opBulk, bulkMemoryFill, 0})
	for name, code := range map[string][]byte{
		"memory.fill":   bytes.Repeat(slices.Concat(i32(0, 0, all), []byte{opBulk, bulkMemoryFill, 0}), 500),
		"memory.copy":   bytes.Repeat(slices.Concat(i32(0, half, half), []byte{opBulk, bulkMemoryCopy, 0, 0}), 500),
		"table.fill":    bytes.Repeat(slices.Concat(i32(0), []byte{0xd0, 0x70}, i32(1<<20), []byte{opBulk, bulkTableFill, 0}), 1000),
		"random_get":    bytes.Repeat(slices.Concat(i32(0, all), []byte{opCall, 0, 0x1a}), 100),
		"host function": append(braces, bytes.Repeat(slices.Concat(i32(0, 4<<20), []byte{opCall, 1}), 1000)...),
	} {
		g, err := Compile(t.Context(), module(0, append(code, zero...)), interruptible)
		if err != nil {
			t.Fatal(name, err)
		}
		i, err := g.Start(t.Context(), Settings{})
		if err != nil {
			t.Fatal(name, err)
		}
		time.AfterFunc(20*time.Millisecond, func() { i.Interrupt(Overdue(time.Millisecond)) })
		if _, err := i.Call(Filter); err == nil || !strings.HasSuffix(err.Error(), "callTimeout, 1ms") {
			t.Errorf("%s: %v", name, err)
		}
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// A table of 2^27 entries would take 1 GiB.
func TestATableGrowsToItsBound(t *testing.T) {
	grow := func(by byte) []byte { // by so many times 2^16 entries, and returns the size before, or -1
		return []byte{0xd0, 0x70, opI32Const, 0x80, 0x80, 0x04 * by, opBulk, bulkTableGrow, 0}
	}
	for by, want := range map[byte]int32{1: -1, 0: 1 << 20} { // the table has 2^20 entries from the start
		g, err := Compile(t.Context(), module(0, grow(by)), Options{MemoryLimit: 128 << 20})
		if err != nil {
			t.Fatal(err)
		}
		i, err := g.Start(t.Context(), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := i.Call(Filter); err != nil || out.Verdict.Code != want {
			t.Errorf("by %d: %v, %v", by, out.Verdict.Code, err)
		}
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// The watchdog may look at a call that ends before it interrupts it.
func TestACallThatHasEndedIsNotInterrupted(t *testing.T) {
	g, err := Compile(t.Context(), module(0, zero), interruptible)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.Background())
	i, err := g.Start(t.Context(), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := i.InCall()
	if _, err := i.Call(Filter); err != nil {
		t.Fatal(err)
	}
	i.InterruptCall(before+1, Overdue(time.Second)) // the number of the call that was
	if _, err := i.Call(Filter); err != nil || i.Interrupted() {
		t.Errorf("the next call: %v", err)
	}
}

func FuzzPrepare(f *testing.F) {
	for _, file := range []string{"../../../static/regex_v2.wasm", "../../../testdata/guests/every_hook.wasm"} {
		wasm, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wasm)
	}
	f.Add(module(1, nested(2)))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		before := bytes.Clone(wasm)
		if _, err := prepare(wasm, true); err == nil && !bytes.Equal(before, wasm) {
			t.Error("the module itself was changed")
		}
	})
}
