package abi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
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
	// Declares is set for a guest that says what it decides by ([Instance.DecidesBy]).
	Declares bool
	// SeesResources is set for a guest that asks for what kube-scheduler counts, beside whole objects.
	SeesResources bool

	code        *compiler.Module
	memoryLimit int64 // of an instance, in bytes
	needs       int64 // what its memory has at its start
	budget      budget
	started     atomic.Uint64 // instances, for their names
}

// ErrMemoryLimit is in the error of a guest that needs more memory than it may have.
var ErrMemoryLimit = errors.New("memoryLimit")

// Compile compiles a guest, checks that there is something to call in it, and links it with the host's functions.
func Compile(ctx context.Context, wasm []byte, o Options) (_ *Guest, err error) {
	// 1. Its code.
	code, err := compiler.Compile(ctx, wasm, o.Interruptible)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = code.Close(ctx)
		}
	}()
	pages := o.MemoryLimit / abi.PageSize
	g := &Guest{code: code, memoryLimit: pages * abi.PageSize}
	g.budget.limit = max(2*o.MemoryLimit, Budget)
	loaded := int64(len(code.Prepared.Wasm)) + code.CodeSize
	if !g.budget.take(loaded) {
		return nil, fmt.Errorf("wasm: guest is refused: its module and code have %d bytes, and it may hold %d", loaded, g.budget.limit)
	}
	code.Prepared.Wasm = nil // wazero has what it needs
	// 2. Its memory.
	memory, ok := code.ExportedMemories()[abi.ExportMemory]
	if !ok && slices.ContainsFunc(code.ImportedFunctions(), func(f api.FunctionDefinition) bool { module, _, _ := f.Import(); return module == moduleJS }) {
		return nil, errors.New("wasm: guest is built for JavaScript (GOOS=js): build it with GOOS=wasip1 and -buildmode=c-shared")
	}
	if !ok {
		return nil, fmt.Errorf("wasm: guest doesn't export memory[%s]", abi.ExportMemory)
	}
	g.needs = int64(memory.Min()) * abi.PageSize
	if g.needs > g.memoryLimit {
		return nil, fmt.Errorf("wasm: guest needs %d bytes of memory at once, but %w is %d", g.needs, ErrMemoryLimit, g.memoryLimit)
	}
	// 3. What it exports, and what it imports.
	err = g.findHooks()
	if err == nil {
		err = g.link(ctx)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// moduleJS is what a Go program imports that is built for JavaScript.
const moduleJS = "gojs"

func (g *Guest) findHooks() error {
	found := g.code.ExportedFunctions()
	constants := g.code.Prepared.Constants
	for h, name := range names {
		f, ok := found[name]
		if !ok {
			continue
		}
		hook := Hook(h)
		err := checkSignature(f, name)
		if err != nil {
			return err
		}
		g.Exports |= Of(hook)
		g.Active |= Of(hook)
		if value, ok := constants[name]; ok {
			g.Active &^= Of(hook)
			g.Constants[h] = hook.verdict(value)
		}
	}
	g.Declares = found[abi.ExportDecidesBy] != nil
	g.SeesResources = found[abi.ExportSeesResources] != nil
	for _, name := range []string{abi.ExportStart, abi.ExportInitialize, abi.ExportDecidesBy, abi.ExportSeesResources} {
		if f, ok := found[name]; ok {
			if err := checkSignature(f, name); err != nil {
				return err
			}
		}
	}
	switch {
	case g.Exports == 0:
		return errors.New("wasm: guest does not export any plugin functions")
	case g.Exports&^Of(Enqueue, AddPod, RemovePod, PreScore, NormalizeScore) == 0:
		return errors.New("wasm: prefilter, filter, postfilter, score, reserve, permit, or a function that binds must be exported")
	case found[abi.ExportInitialize] != nil && g.Active != g.Exports && g.Active&^Of(PreFilter) == 0:
		// TinyGo makes constants of the SDK's hooks where main, which has the plugin, is
		// not run. They would let every pod run anywhere.
		return errors.New("wasm: none of the guest's functions decides anything: it is built as a library, whose main is not run; " +
			"register the plugin in init, or build it with -buildmode=wasi-legacy (TinyGo)")
	}
	return nil
}

// checkSignature compares an export with the ABI.
func checkSignature(f api.FunctionDefinition, name string) error {
	returns := abi.Exports[name].Returns
	if len(f.ParamTypes()) == 0 && slices.Equal(f.ResultTypes(), valueTypes[returns]) {
		return nil
	}
	return fmt.Errorf("wasm: guest exports the wrong signature for func[%s]. should be () -> (%s)", name, returns)
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

// link provides what the guest imports. Of WASI there are no files: wazero's functions for paths would copy a path of any size first.
func (g *Guest) link(ctx context.Context) error {
	const badFileDescriptor = 8 // errno badf
	noFiles := api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = badFileDescriptor })
	modules := map[string]wazero.HostModuleBuilder{}
	for _, f := range g.code.ImportedFunctions() {
		module, name, _ := f.Import()
		g.UsesHandle = g.UsesHandle || module == abi.ModuleScheduler && strings.HasPrefix(name, abi.HandlePrefix)
		g.AsksWhoPassed = g.AsksWhoPassed || module == abi.ModuleScheduler && name == abi.ImportFilteredNodeList
		isWASI := module == wasi_snapshot_preview1.ModuleName
		builder := modules[module]
		if builder == nil && (isWASI || hostFunctions[module] != nil) {
			builder = g.code.Runtime.NewHostModuleBuilder(module)
			modules[module] = builder
			if isWASI {
				wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(builder)
			}
		}
		call, ok := hostFunctions[module][name]
		switch {
		case ok:
			shape := abi.Imports[module][name]
			params := slices.Repeat(valueTypes[abi.I32], len(shape.Params))
			builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(call.module), params, valueTypes[shape.Returns]).Export(name)
		case isWASI && strings.HasPrefix(name, "path_") && slices.Equal(f.ResultTypes(), valueTypes[abi.I32]):
			builder.NewFunctionBuilder().WithGoFunction(noFiles, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	for module, builder := range modules {
		if _, err := builder.Instantiate(ctx); err != nil {
			return fmt.Errorf("wasm: error instantiating %s: %w", module, err)
		}
	}
	return nil
}

// Close frees the guest and its instances. No instance may be running.
func (g *Guest) Close(ctx context.Context) error { return g.code.Close(ctx) }
