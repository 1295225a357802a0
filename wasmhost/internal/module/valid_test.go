package module

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// guests are ours, and those of the tests.
func guests(t testing.TB) (files []string) {
	t.Helper()
	for _, folder := range []string{"static", "testdata/guests", "bench/testdata", "examples/wat"} {
		found := testkit.Files(t, "../../../"+folder+"/*.wasm")
		files = append(files, found...)
	}
	return files
}

func readFile(t testing.TB, file string) []byte {
	t.Helper()
	wasm := testkit.ReadFile(t, file)
	return wasm
}

// What wazero takes, it takes when it is prepared, too, and what it refuses it still does. These are the modules of
// the specification's own tests.
func TestPrepareKeepsWhatIsValid(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	testkit.Must(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "internal/integration_test/spectest/v*/testdata/*.wasm"))
	testkit.Must(t, err)
	taken := 0
	for _, file := range append(files, guests(t)...) {
		wasm := readFile(t, file)
		invalid := valid(wasm)
		for _, meter := range []bool{true, false} {
			prepared, err := Prepare(wasm, meter)
			if err == nil {
				err = valid(prepared.Wasm)
			}
			switch {
			case invalid == nil && err != nil && strings.HasSuffix(file, "v2/testdata/binary-leb128.81.wasm"): // an instruction that is written long
			case invalid == nil && err != nil:
				t.Errorf("%s: %v", file, err)
			case invalid != nil && err == nil:
				t.Errorf("%s is taken, but wazero says: %v", file, invalid)
			case invalid == nil:
				taken++
			}
		}
	}
	if taken < 2*2000 {
		t.Errorf("only %d modules were found", taken/2)
	}
}

// What is prepared may be no guest at all.
func FuzzPrepare(f *testing.F) {
	for _, file := range guests(f) {
		f.Add(readFile(f, file))
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		before := bytes.Clone(wasm)
		took, prepared, err := allocated(wasm)
		if took > mayTake(len(wasm)) {
			t.Errorf("%d bytes for a module of %d", took, len(wasm))
		}
		if !bytes.Equal(before, wasm) {
			t.Error("the module itself was changed")
		}
		if err != nil {
			return
		}
		was, is := valid(wasm), valid(prepared.Wasm)
		dropped := was != nil && strings.Contains(was.Error(), "custom") // an empty section at the end, or names of locals
		if (was == nil) != (is == nil) && !dropped {
			t.Errorf("%x: wazero said %v, and says %v", wasm, was, is)
		}
	})
}
