package compiler

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/tetratelabs/wazero"
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestMain(m *testing.M) {
	InChild()
	os.Exit(m.Run())
}

// inThisProcess has a test compile without a child.
func inThisProcess(t *testing.T) {
	inChild = false
	t.Cleanup(func() { inChild = true })
}

// answers returns an error if a module is not what it was compiled from.
func answers(t *testing.T, m *Module) {
	t.Helper()
	defer func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	instance, err := m.Runtime.InstantiateModule(t.Context(), m.CompiledModule, wazero.NewModuleConfig())
	testkit.Must(t, err)
	got, err := instance.ExportedFunction("answer").Call(t.Context())
	if err != nil || len(got) != 1 || got[0] != 42 {
		t.Errorf("the function returns %v, %v", got, err)
	}
}

// listening returns a context whose logger writes into lines.
func listening(ctx context.Context, lines *[]string) context.Context {
	return klog.NewContext(ctx, funcr.New(func(_, line string) { *lines = append(*lines, line) }, funcr.Options{}))
}

func small() []byte { return module(1, nil, exported, nil) }

// compileSmall compiles a module, calls it, and returns what was logged.
func compileSmall(t *testing.T, ctx context.Context, dir string) (lines []string) {
	t.Helper()
	m, err := Compile(listening(ctx, &lines), small(), dir)
	testkit.Must(t, err)
	answers(t, m)
	return lines
}

func TestCompileRefusesWhatIsNotValid(t *testing.T) {
	testkit.EmptyTemp(t)
	var said []string
	for _, inChild = range []bool{false, true} {
		_, err := Compile(t.Context(), module(1, []byte{opAdd}, exported, nil), "")
		if err == nil {
			t.Fatal("no error")
		}
		said = append(said, err.Error())
	}
	if !strings.HasPrefix(said[0], "invalid function[0]") || said[0] != said[1] || strings.Contains(said[0], "\n") {
		t.Errorf("in this process %q, in a child %q", said[0], said[1])
	}
}

func TestCompileWithoutAChildWarnsOnce(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	warned = sync.Once{}
	lines := append(compileSmall(t, t.Context(), ""), compileSmall(t, t.Context(), "")...)
	if len(lines) != 1 || !strings.Contains(lines[0], "Guests are compiled in this process, without a limit of memory") {
		t.Errorf("logged %q", lines)
	}
}

// kept is the file of a compiled module in a directory, and whether there is nothing else.
func kept(t *testing.T, dir string) os.FileInfo {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	folders, _ := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 || len(folders) != 1 {
		t.Fatalf("kept %v in %v, %v", files, folders, err)
	}
	info, err := os.Stat(files[0])
	testkit.Must(t, err)
	return info
}

func TestCompileKeepsWhatItCompiled(t *testing.T) {
	for name, child := range map[string]bool{"in this process": false, "in a child": true} {
		t.Run(name, func(t *testing.T) {
			if !child {
				inThisProcess(t)
			}
			testkit.EmptyTemp(t)
			dir := filepath.Join(t.TempDir(), "made", "when needed")
			compileSmall(t, t.Context(), dir)
			before := kept(t, dir)
			ended, end := context.WithCancel(t.Context())
			end() // nothing can be compiled any more, here or in a child
			compileSmall(t, ended, dir)
			if !os.SameFile(before, kept(t, dir)) {
				t.Error("written again")
			}
			if _, err := Compile(ended, module(2, nil, exported, nil), dir); !errors.Is(err, context.Canceled) {
				t.Errorf("another module: %v", err)
			}
		})
	}
}

func TestCompileReplacesWhatCannotBeLoaded(t *testing.T) {
	for name, breaks := range map[string]func(file string) error{
		"cut off":            func(file string) error { return os.Truncate(file, 40) },
		"overwritten":        func(file string) error { return os.WriteFile(file, []byte(strings.Repeat("broken", 100)), 0o600) },
		"of another version": func(file string) error { return os.Rename(filepath.Dir(file), filepath.Dir(file)+"0") },
	} {
		t.Run(name, func(t *testing.T) {
			testkit.EmptyTemp(t)
			dir := t.TempDir()
			compileSmall(t, t.Context(), dir)
			files, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
			testkit.Must(t, breaks(files[0]))
			lines := compileSmall(t, t.Context(), dir)
			kept(t, dir)
			if len(lines) != 1 || !strings.Contains(lines[0], "what was kept of it cannot be loaded") {
				t.Errorf("logged %q", lines)
			}
		})
	}
}

func TestCompileWithADirectoryThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	testkit.Must(t, os.WriteFile(file, nil, 0o600))
	for _, inChild = range []bool{false, true} {
		testkit.EmptyTemp(t)
		lines := compileSmall(t, t.Context(), file)
		if len(lines) != 1 || !strings.Contains(lines[0], `the compilation cache is unusable" "directory"="`+file+`"`) {
			t.Errorf("logged %q", lines)
		}
	}
}

func TestCompileOfOneGuestBySeveralAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			m, err := Compile(t.Context(), small(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			answers(t, m)
		})
	}
	all.Wait()
}
