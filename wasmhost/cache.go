package wasmhost

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"k8s.io/klog/v2"
)

// caches keep compiled guests in directories, for this start and the next. There is
// one cache for each directory, and plugins share it. The zero value is ready to use.
type caches struct {
	mu      sync.Mutex
	opened  map[string]wazero.CompilationCache // nil where the directory is of no use
	renewed []wazero.CompilationCache
}

// with compiles with the cache in a directory, or with nil where there is none. A cache
// that fails, because it is full, broken or read-only, costs only time: with calls
// compile again, which must leave nothing behind when it fails.
func (c *caches) with(ctx context.Context, dir string, compile func(wazero.CompilationCache) error) error {
	cache := c.in(ctx, dir)
	err := compile(cache)
	if err == nil || cache == nil {
		return err
	}
	if c.renew(ctx, dir, err, compile) == nil {
		return nil
	}
	if without := compile(nil); without != nil {
		return without // the guest is to blame, and not the cache
	}
	tell(ctx, err, dir)
	return nil
}

// renew compiles with an empty cache, and moves the file that wazero writes there over
// the broken one, which has the same name.
func (c *caches) renew(ctx context.Context, dir string, broken error, compile func(wazero.CompilationCache) error) error {
	empty, err := os.MkdirTemp(dir, "renewed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	cache, err := wazero.NewCompilationCacheWithDir(empty)
	if err != nil {
		return err
	}
	if err := compile(cache); err != nil {
		return errors.Join(err, cache.Close(ctx))
	}
	c.mu.Lock()
	c.renewed = append(c.renewed, cache)
	c.mu.Unlock()
	klog.FromContext(ctx).Info("A file of the compilation cache was broken: the guest is compiled anew, and replaces it",
		"directory", dir, "err", broken, "notReplaced", move(empty, dir))
	return nil
}

// move moves the files of compiled guests from one directory to another.
func move(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*", "*"))
	for _, file := range files {
		err = errors.Join(err, os.Rename(file, filepath.Join(to, strings.TrimPrefix(file, from))))
	}
	return err
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
	for _, cache := range c.renewed {
		errs = append(errs, cache.Close(ctx))
	}
	c.opened, c.renewed = nil, nil
	return errors.Join(errs...)
}
