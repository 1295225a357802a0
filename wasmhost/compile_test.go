package wasmhost

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/tetratelabs/wazero"
	"k8s.io/klog/v2"
)

// emptyModule is the least that compiles to something: a function that does nothing.
const emptyModule = "\x00asm" + "\x01\x00\x00\x00" + "\x01\x04\x01\x60\x00\x00" + "\x03\x02\x01\x00" + "\x0a\x04\x01\x02\x00\x0b"

// compiling is what a host does with a cache; ran says with how many it did.
func compiling(ctx context.Context, wasm string, ran *int) func(wazero.CompilationCache) error {
	return func(cache wazero.CompilationCache) error {
		*ran++
		config := wazero.NewRuntimeConfig()
		if cache != nil {
			config = config.WithCompilationCache(cache)
		}
		r := wazero.NewRuntimeWithConfig(ctx, config)
		_, err := r.CompileModule(ctx, []byte(wasm))
		return errors.Join(err, r.Close(ctx))
	}
}

// kept are the files of compiled guests in a directory.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWhatIsCompiledIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	var before os.FileInfo
	for start := range 3 {
		c := caches{}
		for plugin := range 2 {
			ran := 0
			if err := c.with(t.Context(), dir, compiling(t.Context(), emptyModule, &ran)); err != nil || ran != 1 {
				t.Fatalf("start %d, plugin %d: compiled %d times: %v", start, plugin, ran, err)
			}
		}
		if err := c.close(t.Context()); err != nil {
			t.Fatal(err)
		}
		files := kept(t, dir)
		if len(files) != 1 {
			t.Fatalf("start %d: kept %v", start, files)
		}
		after, err := os.Stat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !os.SameFile(before, after) {
			t.Errorf("start %d: written again", start)
		}
		before = after
	}
}

func TestWithoutADirectoryNothingIsKept(t *testing.T) {
	c := caches{}
	if err := c.with(t.Context(), "", func(cache wazero.CompilationCache) error {
		if cache != c[""] || len(c) != 1 {
			t.Errorf("the caches are %v", c)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// listening returns a context whose logger writes into lines.
func listening(t *testing.T, lines *[]string) context.Context {
	return klog.NewContext(t.Context(), funcr.New(func(_, line string) { *lines = append(*lines, line) }, funcr.Options{}))
}

func TestADirectoryThatIsOfNoUseIsToldOfOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	ctx := listening(t, &lines)
	c := caches{}
	for range 2 {
		ran := 0
		if err := c.with(ctx, file, compiling(ctx, emptyModule, &ran)); err != nil || ran != 1 {
			t.Errorf("compiled %d times: %v", ran, err)
		}
	}
	if len(lines) != 1 || !strings.Contains(lines[0], `"directory"="`+file+`"`) {
		t.Errorf("said %q", lines)
	}
	if err := c.close(ctx); err != nil {
		t.Error(err)
	}
}

func TestABrokenFileIsReplaced(t *testing.T) {
	for name, breaks := range map[string]func(file string) error{
		"cut off":     func(file string) error { return os.Truncate(file, 40) },
		"empty":       func(file string) error { return os.Truncate(file, 0) },
		"overwritten": func(file string) error { return os.WriteFile(file, []byte(strings.Repeat("broken", 100)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var lines []string
			ctx := listening(t, &lines)
			other := filepath.Join(dir, "wazero-other", "of another process")
			if err := errors.Join(os.MkdirAll(filepath.Dir(other), 0o700), os.WriteFile(other, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			for start, compiled := range []int{1, 2, 1, 1} { // twice where the file is found to be broken
				c := caches{}
				ran := 0
				if err := c.with(ctx, dir, compiling(ctx, emptyModule, &ran)); err != nil || ran != compiled {
					t.Errorf("start %d: compiled %d times: %v", start, ran, err)
				}
				if err := c.close(ctx); err != nil {
					t.Error(err)
				}
				files := slices.DeleteFunc(kept(t, dir), func(file string) bool { return file == other })
				if len(files) != 1 || len(kept(t, dir)) != 2 {
					t.Fatalf("start %d: kept %v", start, kept(t, dir))
				}
				if start > 0 {
					continue
				}
				if err := breaks(files[0]); err != nil {
					t.Fatal(err)
				}
			}
			if len(lines) != 1 || !strings.Contains(lines[0], dir) {
				t.Errorf("said %q", lines)
			}
			if left, err := os.ReadDir(dir); len(left) != 2 || err != nil {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

func TestTheCacheIsNotToBlameForABadGuest(t *testing.T) {
	var lines []string
	ctx := listening(t, &lines)
	c := caches{}
	ran := 0
	err := c.with(ctx, t.TempDir(), compiling(ctx, "\x00asm"+"\x02\x00\x00\x00", &ran))
	if err == nil || !strings.Contains(err.Error(), "invalid version header") || len(lines) > 0 {
		t.Errorf("got %v, said %q", err, lines)
	}
}
