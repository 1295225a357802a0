// Package compiler has wazero compile guests, in a child process where the program allows it.
//
// wazero's compiler takes as much memory as a guest makes it take: more than the square of
// what is in a function. Its validator can panic, and a panic of its workers cannot be
// recovered. So a child with a limit of memory and of time compiles, into a folder that
// wazero's compilation cache reads. This process only loads what is there.
package compiler

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// Compile compiles a module. It keeps the compiled code in a directory for the next start, if
// one is named. A directory that cannot be made costs only time, and a warning.
func Compile(ctx context.Context, wasm []byte, keepIn string) (*Module, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("it takes longer than %s", maxTime))
	defer cancel()
	if keepIn != "" {
		kept := filepath.Join(keepIn, fmt.Sprintf("%x", sha256.Sum256(wasm)))
		m := loadKept(ctx, wasm, kept)
		if m != nil {
			return m, nil
		}
		err := errors.Join(os.RemoveAll(kept), os.MkdirAll(kept, 0o700))
		if err == nil {
			return compileInto(ctx, wasm, kept)
		}
		klog.FromContext(ctx).Info("Guests are compiled at each start: the compilation cache is unusable", "directory", keepIn, "err", err)
	}
	if !inChild {
		return compile(ctx, wasm, "")
	}
	folder, err := os.MkdirTemp("", "compiling-*") // which only this user may read
	if err != nil {
		return compileHere(ctx, wasm, err)
	}
	defer os.RemoveAll(folder) // compiled code is run: nothing of it stays where it is not asked for
	return compileInto(ctx, wasm, folder)
}

// compileInto compiles a module into a folder, which it removes after an error.
func compileInto(ctx context.Context, wasm []byte, folder string) (m *Module, err error) {
	if inChild {
		err = compileInChild(ctx, folder, wasm)
	} else {
		m, err = compile(ctx, wasm, folder)
	}
	switch {
	case err == nil && inChild:
		return load(wasm, folder)
	case err == nil:
		return m, nil
	}
	_ = os.RemoveAll(folder)
	if errors.As(err, new(notStarted)) {
		return compileHere(ctx, wasm, err)
	}
	return nil, err
}

// compileHere compiles in this process, since nothing else is possible.
func compileHere(ctx context.Context, wasm []byte, why error) (*Module, error) {
	warned.Do(func() {
		klog.FromContext(ctx).Info("Guests are compiled in this process, without a limit of memory: no child process can do it", "err", why)
	})
	return compile(ctx, wasm, "")
}

var warned sync.Once

// loadKept loads a module that was kept, or returns nil.
func loadKept(ctx context.Context, wasm []byte, kept string) *Module {
	if _, err := os.Stat(kept); err != nil {
		return nil
	}
	m, err := load(wasm, kept)
	if err != nil {
		klog.FromContext(ctx).Info("A guest is compiled again: what was kept of it cannot be loaded", "directory", kept, "err", err)
		return nil
	}
	return m
}

// load reads what was compiled into a folder, and never compiles: wazero looks for compiled
// code first, and then finds that its context is done. But it validates the module again, so call
// this only for one that was compiled.
func load(wasm []byte, folder string) (*Module, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("it was compiled for another processor, or by another version of wazero"))
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
