package testkit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// CheckGuests fails a test unless each guest in a folder, name.wasm, is what wat2wasm
// makes of name.wat beside it. It skips where there is no wat2wasm.
func CheckGuests(t *testing.T, folder string) {
	t.Helper()
	wat2wasm, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("no wat2wasm on PATH (package wabt): the committed guests are taken on trust")
	}
	sources, _ := filepath.Glob(filepath.Join(folder, "*.wat"))
	binaries, _ := filepath.Glob(filepath.Join(folder, "*.wasm"))
	if len(sources) == 0 || len(sources) != len(binaries) {
		t.Fatalf("%d sources and %d binaries", len(sources), len(binaries))
	}
	for _, source := range sources {
		built := filepath.Join(t.TempDir(), "guest.wasm")
		out, err := exec.Command(wat2wasm, source, "-o", built).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", source, err, out)
		}
		got, err := os.ReadFile(built)
		Must(t, err)
		committed, err := os.ReadFile(strings.TrimSuffix(source, ".wat") + ".wasm")
		if err != nil || !bytes.Equal(got, committed) {
			t.Errorf("%s is not what the committed guest is made of (%v)", source, err)
		}
	}
}
