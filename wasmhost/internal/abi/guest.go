package abi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/compiler"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/module"
)

// Options say how a guest is compiled.
type Options struct {
	// MemoryLimit bounds the memory of each instance, in bytes. Where it is not a
	// whole number of pages, it is the next lower one.
	MemoryLimit int64
	// Interruptible guests can be bounded in time (see [Instance.Interrupt]). The
	// meter that this takes makes them a little slower.
	Interruptible bool
}

// Guest is a compiled guest.
type Guest struct {
	// Exports are the hooks that the guest exports, and Active those of them that do
	// something.
	Exports, Active Set
	// Constants are what hooks answer that are not active: zero for one that is not
	// exported.
	Constants [hooks]Verdict
	// UsesHandle is set for a guest that may act on the scheduler: it imports a function
	// of the framework's handle.
	UsesHandle bool
	// AsksWhoPassed is set for a guest that may ask which nodes passed Filter.
	AsksWhoPassed bool
	// Size is the size of the module in bytes, and SHA256 its digest.
	Size   int
	SHA256 [sha256.Size]byte
	// Declares is set for a guest that says what it decides by ([Instance.DecidesBy]).
	Declares bool

	code        *compiler.Module
	memoryLimit int64 // of an instance, in bytes
	needs       int64 // what its memory has at its start
	budget      budget
	started     atomic.Uint64 // instances, for their names
}

// ErrMemoryLimit is in the error of a guest that needs more memory than it may have.
var ErrMemoryLimit = errors.New("memoryLimit")

// Compile compiles a guest and checks that there is something to call in it.
func Compile(ctx context.Context, wasm []byte, o Options) (*Guest, error) {
	code, err := compiler.Compile(ctx, wasm, o.Interruptible)
	if err != nil {
		return nil, err
	}
	pages := o.MemoryLimit / pageSize
	g := &Guest{Size: len(wasm), SHA256: sha256.Sum256(wasm), code: code, memoryLimit: pages * pageSize}
	g.budget.limit = max(2*o.MemoryLimit, Budget)
	if loaded := int64(len(code.Prepared.Wasm)) + code.CodeSize; !g.budget.take(loaded) {
		err = fmt.Errorf("wasm: guest is refused: its module and code have %d bytes, and it may hold %d", loaded, g.budget.limit)
	}
	code.Prepared.Wasm = nil // wazero has what it needs
	if err == nil {
		err = g.check(ctx)
	}
	if err != nil {
		_ = g.Close(ctx)
		return nil, err
	}
	return g, nil
}

// moduleJS is what a Go program imports that is built for JavaScript.
const moduleJS = "gojs"

// check finds the guest's memory, its hooks, and what it imports.
func (g *Guest) check(ctx context.Context) error {
	memory, ok := g.code.ExportedMemories()[exportMemory]
	if !ok && slices.ContainsFunc(g.code.ImportedFunctions(), func(f api.FunctionDefinition) bool { module, _, _ := f.Import(); return module == moduleJS }) {
		return errors.New("wasm: guest is built for JavaScript (GOOS=js): build it with GOOS=wasip1 and -buildmode=c-shared")
	}
	if !ok {
		return fmt.Errorf("wasm: guest doesn't export memory[%s]", exportMemory)
	}
	g.needs = int64(memory.Min()) * pageSize
	if g.needs > g.memoryLimit {
		return fmt.Errorf("wasm: guest needs %d bytes of memory at once, but %w is %d", g.needs, ErrMemoryLimit, g.memoryLimit)
	}
	if err := g.findHooks(); err != nil {
		return err
	}
	return g.link(ctx)
}

func (g *Guest) findHooks() error {
	found := g.code.ExportedFunctions()
	constants := g.code.Prepared.Constants
	for h := range hooks {
		f, ok := found[h.String()]
		if !ok {
			continue
		}
		if err := checkSignature(f, h.String(), nil, exports[h].results); err != nil {
			return err
		}
		g.Exports |= Of(h)
		g.Active |= Of(h)
		if value, ok := constants[h.String()]; ok {
			g.Active &^= Of(h)
			g.Constants[h] = h.verdict(value)
		}
	}
	if err := checkSignature(found[exportDecidesBy], exportDecidesBy, nil, []api.ValueType{i64}); err != nil {
		return err
	}
	_, g.Declares = found[exportDecidesBy]
	switch {
	case g.Exports == 0:
		return errors.New("wasm: guest does not export any plugin functions")
	case g.Exports&^Of(Enqueue, AddPod, RemovePod, PreScore, NormalizeScore) == 0:
		return errors.New("wasm: filter, score, reserve, permit or bind must be exported")
	case found[exportInitialize] != nil && g.Active != g.Exports && g.Active&^Of(PreFilter) == 0:
		// TinyGo makes constants of the SDK's hooks where main, which has the plugin, is
		// not run. They would let every pod run anywhere.
		return errors.New("wasm: none of the guest's functions decides anything: it is built as a library, whose main is not run; " +
			"register the plugin in init, or build it with -buildmode=wasi-legacy (TinyGo)")
	}
	return nil
}

// checkSignature compares the signature of a function that may be there.
func checkSignature(f api.FunctionDefinition, name string, params, results []api.ValueType) error {
	if f == nil || slices.Equal(f.ParamTypes(), params) && slices.Equal(f.ResultTypes(), results) {
		return nil
	}
	return fmt.Errorf("wasm: guest exports the wrong signature for func[%s]. should be (%s) -> (%s)", name, typeNames(params), typeNames(results))
}

func typeNames(of []api.ValueType) string {
	var names []string
	for _, t := range of {
		names = append(names, api.ValueTypeName(t))
	}
	return strings.Join(names, ", ")
}

// Functions are the names of the functions that the guest exports, and imports, these by module.
func (g *Guest) Functions() (exports, imports []string) {
	for name := range g.code.ExportedFunctions() {
		if name != module.StartFunction {
			exports = append(exports, name)
		}
	}
	for _, f := range g.code.ImportedFunctions() {
		module, name, _ := f.Import()
		imports = append(imports, module+" "+name)
	}
	slices.Sort(exports)
	slices.Sort(imports)
	return exports, imports
}

// link provides the modules that the guest imports from.
func (g *Guest) link(ctx context.Context) error {
	linked := map[string]bool{}
	for _, f := range g.code.ImportedFunctions() {
		module, name, _ := f.Import()
		g.UsesHandle = g.UsesHandle || module == moduleScheduler && strings.HasPrefix(name, "handle.")
		g.AsksWhoPassed = g.AsksWhoPassed || module == moduleScheduler && name == "filteredNodeList"
		if linked[module] {
			continue
		}
		linked[module] = true
		var err error
		if module == wasi_snapshot_preview1.ModuleName {
			err = g.linkWASI(ctx)
		} else if functions, ok := hostModules[module]; ok {
			err = functions.instantiate(ctx, g.code.Runtime, module)
		}
		if err != nil {
			return fmt.Errorf("wasm: error instantiating %s: %w", module, err)
		}
	}
	return nil
}

// Close frees the guest and its instances. No instance may be running.
func (g *Guest) Close(ctx context.Context) error { return g.code.Close(ctx) }

// linkWASI provides WASI. There are no files: wazero's functions for paths would copy a path of any size first.
func (g *Guest) linkWASI(ctx context.Context) error {
	const badFileDescriptor = 8 // errno badf
	builder := g.code.Runtime.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(builder)
	for _, f := range g.code.ImportedFunctions() {
		from, name, _ := f.Import()
		if from == wasi_snapshot_preview1.ModuleName && strings.HasPrefix(name, "path_") && slices.Equal(f.ResultTypes(), []api.ValueType{i32}) {
			refuse := api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = badFileDescriptor })
			builder.NewFunctionBuilder().WithGoFunction(refuse, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	_, err := builder.Instantiate(ctx)
	return err
}
