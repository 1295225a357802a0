package wasmhost

import (
	"os"
	"path/filepath"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// fileURL is the URL of a guest that the project ships.
func fileURL(guest string) string { return "file://../static/" + guest + ".wasm" }

func TestSecondStartTakesWhatTheFirstCompiled(t *testing.T) {
	for _, noCache := range []bool{false, true} {
		dir := t.TempDir()
		var compiled []os.FileInfo
		for start := range 2 {
			h := New(Options{NoCache: noCache})
			if _, err := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURL("regex_v2"), CompilationCache: dir}); err != nil {
				t.Fatal(err)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
			if err != nil || (len(files) == 0) != noCache || len(files) > 1 {
				t.Fatalf("start %d: kept %v, %v", start, files, err)
			}
			for _, file := range files {
				info, err := os.Stat(file)
				testkit.Must(t, err)
				compiled = append(compiled, info)
			}
		}
		if !noCache && !os.SameFile(compiled[0], compiled[1]) {
			t.Error("the second start compiles again")
		}
	}
}
