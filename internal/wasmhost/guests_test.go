package wasmhost

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const guests = "../../testdata/guests/"

// readGuest returns the bytes of a fault guest.
func readGuest(t *testing.T, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(guests + name + ".wasm")
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func TestEveryGuestIsBuiltFromTheSourceBesideIt(t *testing.T) {
	wat2wasm, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("no wat2wasm on PATH (package wabt): the committed guests are taken on trust")
	}
	sources, _ := filepath.Glob(guests + "*.wat")
	binaries, _ := filepath.Glob(guests + "*.wasm")
	if len(sources) == 0 || len(sources) != len(binaries) {
		t.Fatalf("%d sources and %d binaries", len(sources), len(binaries))
	}
	for _, source := range sources {
		built := filepath.Join(t.TempDir(), "guest.wasm")
		if out, err := exec.Command(wat2wasm, source, "-o", built).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", source, err, out)
		}
		got, err := os.ReadFile(built)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(source), ".wat")
		if !bytes.Equal(got, readGuest(t, name)) {
			t.Errorf("%s.wasm is not what wat2wasm makes of %s.wat", name, name)
		}
	}
}
