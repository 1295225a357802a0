// Package compiler has guests checked, metered and compiled, in a child process where the program allows it.
//
// A guest of 60 MB takes 1 GB to check and meter. wazero's compiler takes as much memory as a guest makes it take: more than the square of
// what is in a function. Its validator can panic, and a panic of its workers cannot be
// recovered. So a child with a limit of memory and of time compiles, into a private folder that
// wazero's compilation cache reads. This process only loads what is there.
package compiler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/module"
)

// maxTime bounds compiling. A guest in Go with k8s.io/api takes five seconds.
const maxTime = 2 * time.Minute

// Module is a compiled module.
type Module struct {
	wazero.CompiledModule
	Runtime  wazero.Runtime
	Prepared *module.Prepared
	CodeSize int64                   // of its native code, in bytes; 0 where this process compiled it
	cache    wazero.CompilationCache // nil where none was read
}

// Close frees the module and its instances. No instance may be running.
func (m *Module) Close(ctx context.Context) error {
	err := m.Runtime.Close(ctx)
	if m.CompiledModule != nil {
		err = errors.Join(err, m.CompiledModule.Close(ctx))
	}
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close(ctx))
	}
	return err
}

// Compile prepares a module, metered or not, and compiles it. If [InChild] was called a child process does it, and this one
// only where none can be started or write.
func Compile(ctx context.Context, wasm []byte, meter bool) (*Module, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("it takes longer than %s", maxTime))
	defer cancel()
	if inChild {
		m, err := compileInChild(ctx, wasm, meter)
		if !errors.As(err, new(notPossible)) {
			return m, err
		}
		warned.Do(func() {
			klog.FromContext(ctx).Info("Guests are compiled in this process, without a limit of memory: no child process can do it", "err", err)
		})
	}
	prepared, err := module.Prepare(wasm, meter)
	if err != nil {
		return nil, err
	}
	return compile(ctx, prepared, "")
}

var warned sync.Once

// What a child leaves in its folder, beside the compiled code.
const (
	preparedWasm = "prepared.wasm"
	preparedRest = "prepared.json"
)

// load reads what was compiled into a folder, and never compiles: wazero looks for compiled
// code first, and then finds that its context is done. But it validates the module again, so call
// this only for one that was compiled.
func load(folder string) (*Module, error) {
	prepared := &module.Prepared{}
	rest, err := os.ReadFile(filepath.Join(folder, preparedRest))
	if err == nil {
		err = json.Unmarshal(rest, prepared)
	}
	if err == nil {
		prepared.Wasm, err = os.ReadFile(filepath.Join(folder, preparedWasm))
	}
	if err != nil {
		return nil, failed(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the code that was compiled for it is gone"))
	m, err := compile(ctx, prepared, folder)
	if err == nil {
		m.CodeSize = sizeOf(folder) - int64(len(prepared.Wasm))
	}
	return m, err
}

// sizeOf is the size of all files in a folder.
func sizeOf(folder string) (size int64) {
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	return size
}

func failed(err error) error { return fmt.Errorf("wasm: error compiling guest: %w", err) }

// compile compiles a module in this process, and reads or writes its code in a folder, if it has one. A panic of the validator is
// an error.
func compile(ctx context.Context, prepared *module.Prepared, folder string) (m *Module, err error) {
	defer func() {
		panicked := recover()
		if panicked != nil {
			m, err = nil, failed(fmt.Errorf("wazero panics: %v", panicked))
		}
	}()
	m = &Module{Prepared: prepared}
	config := wazero.NewRuntimeConfig()
	if folder != "" {
		m.cache, err = wazero.NewCompilationCacheWithDir(folder)
		if err != nil {
			return nil, failed(err)
		}
		config = config.WithCompilationCache(m.cache)
	}
	m.Runtime = wazero.NewRuntimeWithConfig(ctx, config)
	workers := min(max(2, runtime.GOMAXPROCS(0)), maxWorkers) // with one, wazero does not look whether its context is done
	m.CompiledModule, err = m.Runtime.CompileModule(experimental.WithCompilationWorkers(ctx, workers), prepared.Wasm)
	if err == nil {
		return m, nil
	}
	_ = m.Close(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, failed(err)
}

// maxWorkers bounds the goroutines that compile, each of which takes memory of its own.
const maxWorkers = 4
