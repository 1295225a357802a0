package wasmhost

import (
	"context"
	"errors"
	"sync"

	"github.com/tetratelabs/wazero"
	"k8s.io/klog/v2"
)

// caches keep compiled guests in directories, for this start and the next. There
// is one for each directory, whatever the number of plugins that share it. The
// zero value is ready to use.
type caches struct {
	mu     sync.Mutex
	opened map[string]wazero.CompilationCache // nil where the directory is of no use
}

// with compiles with the cache in a directory, or with nil where there is none.
// A cache that fails, being full, broken or not to be written, costs only time:
// compile is called again without it, and must have left nothing behind.
func (c *caches) with(ctx context.Context, dir string, compile func(wazero.CompilationCache) error) error {
	cache := c.in(ctx, dir)
	err := compile(cache)
	if err == nil || cache == nil {
		return err
	}
	if without := compile(nil); without != nil {
		return without // it was not the cache
	}
	tell(ctx, err, dir)
	return nil
}

// in is the cache in a directory.
func (c *caches) in(ctx context.Context, dir string) wazero.CompilationCache {
	if dir == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cache, ok := c.opened[dir]; ok {
		return cache
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		tell(ctx, err, dir)
		cache = nil
	}
	if c.opened == nil {
		c.opened = map[string]wazero.CompilationCache{}
	}
	c.opened[dir] = cache
	return cache
}

func tell(ctx context.Context, err error, dir string) {
	klog.FromContext(ctx).Info("Guests are compiled anew at each start: the compilation cache is of no use", "directory", dir, "err", err)
}

// close frees what is compiled. The guests must have been closed; the
// directories stay as they are.
func (c *caches) close(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, cache := range c.opened {
		if cache != nil {
			errs = append(errs, cache.Close(ctx))
		}
	}
	c.opened = nil
	return errors.Join(errs...)
}
