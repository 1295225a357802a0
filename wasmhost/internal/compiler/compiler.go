// Package compiler has wazero compile guests, in a child process where the program allows it.
//
// wazero's compiler takes as much memory as a guest makes it take: more than the square of
// what is in a function. Its validator can panic, and a panic of its workers cannot be
// recovered. So a child with a limit of memory and of time compiles, into a private folder that
// wazero's compilation cache reads. This process only loads what is there.
package compiler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"k8s.io/klog/v2"
)

// maxTime bounds compiling. A guest in Go with k8s.io/api takes five seconds.
const maxTime = 2 * time.Minute

// Module is a compiled module.
type Module struct {
	wazero.CompiledModule
	Runtime wazero.Runtime
	cache   wazero.CompilationCache // nil where none was read
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

// Compile compiles a module, in a child process if [InChild] was called.
func Compile(ctx context.Context, wasm []byte) (*Module, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("it takes longer than %s", maxTime))
	defer cancel()
	if !inChild {
		return compile(ctx, wasm, "")
	}
	folder, err := os.MkdirTemp("", "compiling-*") // which only this user may read
	if err != nil {
		return compileHere(ctx, wasm, err)
	}
	defer os.RemoveAll(folder) // compiled code is run: nothing of it stays
	err = compileInChild(ctx, folder, wasm)
	if errors.As(err, new(notPossible)) {
		return compileHere(ctx, wasm, err)
	}
	if err != nil {
		return nil, err
	}
	return load(wasm, folder)
}

// compileHere compiles in this process, since no child can.
func compileHere(ctx context.Context, wasm []byte, why error) (*Module, error) {
	warned.Do(func() {
		klog.FromContext(ctx).Info("Guests are compiled in this process, without a limit of memory: no child process can do it", "err", why)
	})
	return compile(ctx, wasm, "")
}

var warned sync.Once

// load reads what was compiled into a folder, and never compiles: wazero looks for compiled
// code first, and then finds that its context is done. But it validates the module again, so call
// this only for one that was compiled.
func load(wasm []byte, folder string) (*Module, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the code that was compiled for it is gone"))
	return compile(ctx, wasm, folder)
}

// compile compiles a module in this process, or loads it from a folder. A panic of the validator is
// an error.
func compile(ctx context.Context, wasm []byte, folder string) (m *Module, err error) {
	defer func() {
		panicked := recover()
		if panicked != nil {
			m, err = nil, fmt.Errorf("wazero panics: %v", panicked)
		}
	}()
	return compileOrPanic(ctx, wasm, folder)
}

func compileOrPanic(ctx context.Context, wasm []byte, folder string) (m *Module, err error) {
	m = &Module{}
	config := wazero.NewRuntimeConfig()
	if folder != "" {
		m.cache, err = wazero.NewCompilationCacheWithDir(folder)
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(m.cache)
	}
	m.Runtime = wazero.NewRuntimeWithConfig(ctx, config)
	m.CompiledModule, err = m.Runtime.CompileModule(experimental.WithCompilationWorkers(ctx, workers()), wasm)
	if err == nil {
		return m, nil
	}
	_ = m.Close(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, err
}

// workers is the number of goroutines that compile. With one, wazero does not look whether its
// context is done. Each takes memory of its own.
func workers() int { return min(max(2, runtime.GOMAXPROCS(0)), maxWorkers) }

const maxWorkers = 4
