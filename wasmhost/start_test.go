package wasmhost

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
)

// fileURL is the URL of a guest that the project ships.
func fileURL(guest string) string { return "file://../static/" + guest + ".wasm" }

// kept are the files of compiled guests in a directory.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// listening returns a context whose logger writes into lines.
func listening(t *testing.T, lines *[]string) context.Context {
	return klog.NewContext(t.Context(), funcr.New(func(_, line string) { *lines = append(*lines, line) }, funcr.Options{}))
}

func TestSecondStartTakesWhatTheFirstCompiled(t *testing.T) {
	dir := t.TempDir()
	var before os.FileInfo
	for start := range 2 {
		var lines []string
		h := New(Options{})
		args := Args{GuestURL: fileURL("regex_v2"), CompilationCache: dir}
		if _, err := h.Start(listening(t, &lines), "Wasm", args); err != nil {
			t.Fatal(err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		files := kept(t, dir)
		if len(files) != 1 || len(lines) != 0 {
			t.Fatalf("start %d: kept %v, said %q", start, files, lines)
		}
		after, err := os.Stat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !os.SameFile(before, after) {
			t.Errorf("start %d: compiled again", start)
		}
		before = after
	}
}

func TestNoCacheWritesNothing(t *testing.T) {
	dir := t.TempDir()
	h := New(Options{NoCache: true})
	defer h.Close()
	if _, err := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURL("regex_v2"), CompilationCache: dir}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if len(left) > 0 || err != nil {
		t.Errorf("kept %v, %v", left, err)
	}
}

// BenchmarkStart is from the args to a guest that waits for calls.
func BenchmarkStart(b *testing.B) {
	for _, guest := range []string{"regex_v2", "regex_v1"} {
		for name, args := range map[string]Args{
			"first":  {GuestURL: fileURL(guest)},
			"second": {GuestURL: fileURL(guest), CompilationCache: b.TempDir()},
		} {
			b.Run(guest+"/"+name, func(b *testing.B) {
				startAndStop(b, args) // for the cache
				for b.Loop() {
					startAndStop(b, args)
				}
			})
		}
	}
}

func startAndStop(b *testing.B, args Args) {
	h := New(Options{})
	if _, err := h.Start(context.Background(), "Wasm", args); err != nil {
		b.Fatal(err)
	}
	if err := h.Close(); err != nil {
		b.Fatal(err)
	}
}
