package wasmhost

import (
	"path/filepath"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// fileURL is the URL of a guest that the project ships.
func fileURL(guest string) string { return "file://../static/" + guest + ".wasm" }

// Package compiler has the test that it is taken at the next start.
func TestWhatAStartCompiledIsKeptUnlessTheHostHasNoCache(t *testing.T) {
	for _, noCache := range []bool{false, true} {
		dir := t.TempDir()
		h := New(Options{NoCache: noCache})
		defer h.Close()
		_, err := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURL("regex_v2"), CompilationCache: dir})
		testkit.Must(t, err)
		files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
		if err != nil || (len(files) == 0) != noCache {
			t.Errorf("kept %v, %v", files, err)
		}
	}
}
