package compiler

import (
	"context"
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

// answers returns an error if a module is not what it was compiled from.
func answers(t *testing.T, m *Module) {
	t.Helper()
	defer func() { testkit.Must(t, m.Close(context.Background())) }()
	instance, err := m.Runtime.InstantiateModule(t.Context(), m.CompiledModule, wazero.NewModuleConfig())
	testkit.Must(t, err)
	got, err := instance.ExportedFunction("answer").Call(t.Context())
	testkit.Must(t, err)
	testkit.Equal(t, got, []uint64{42}, "what the function returns")
}

func small() []byte { return assemble(1, nil, exported, nil) }

// compileSmall compiles a module, calls it, and returns what was logged.
func compileSmall(t *testing.T) (lines []string) {
	t.Helper()
	ctx := klog.NewContext(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	m, err := Compile(ctx, small(), false)
	testkit.Must(t, err)
	answers(t, m)
	return lines
}

func TestCompileRefusesWhatIsNotValid(t *testing.T) {
	testkit.EmptyTemp(t)
	var said []string
	for _, inChild = range []bool{false, true} {
		_, err := Compile(t.Context(), assemble(1, []byte{opAdd}, exported, nil), false)
		if err == nil {
			t.Fatal("no error")
		}
		said = append(said, err.Error())
	}
	if !strings.HasPrefix(said[0], "wasm: error compiling guest: invalid function[0]") || said[0] != said[1] || strings.Contains(said[0], "\n") {
		t.Errorf("in this process %q, in a child %q", said[0], said[1])
	}
}

func TestCompileWithoutAChildWarnsOnce(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	warned = sync.Once{}
	lines := append(compileSmall(t), compileSmall(t)...)
	if len(lines) != 1 || !strings.Contains(lines[0], "Guests are compiled in this process, without a limit of memory") {
		t.Errorf("logged %q", lines)
	}
}

func TestCompileOfOneGuestBySeveralAtOnce(t *testing.T) {
	testkit.EmptyTemp(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			m, err := Compile(t.Context(), small(), false)
			if err != nil {
				t.Error(err)
				return
			}
			answers(t, m)
		})
	}
	all.Wait()
}
