package wasmhost

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
	"k8s.io/klog/v2"
)

// caches keep compiled guests: for all plugins of a Host, and in directories for the
// next start. There is one for each directory, and one in memory alone, for "". They are
// for one goroutine at a time.
type caches map[string]wazero.CompilationCache

// with compiles with the cache in a directory. A directory that is full, broken or
// read-only costs only time: with calls compile again, which must leave nothing behind
// when it fails.
func (c caches) with(ctx context.Context, dir string, compile func(wazero.CompilationCache) error) error {
	err := compile(c.in(ctx, dir))
	if err == nil || dir == "" {
		return err
	}
	if without := compile(c.in(ctx, "")); without != nil {
		return without // the guest is to blame, and not the cache
	}
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		tell(ctx, err, dir)
		return nil
	}
	klog.FromContext(ctx).Info("A file of the compilation cache was broken: the next start compiles its guests anew",
		"directory", dir, "err", err, "notRemoved", removeFiles(dir))
	return nil
}

// removeFiles removes the files that wazero has written. None is known by its name.
func removeFiles(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// in is the cache in a directory, or one in memory where the directory is of no use.
func (c caches) in(ctx context.Context, dir string) wazero.CompilationCache {
	if cache, ok := c[dir]; ok {
		return cache
	}
	cache := wazero.NewCompilationCache()
	if dir != "" {
		kept, err := wazero.NewCompilationCacheWithDir(dir)
		if err == nil {
			cache = kept
		} else {
			tell(ctx, err, dir)
		}
	}
	c[dir] = cache
	return cache
}

func tell(ctx context.Context, err error, dir string) {
	klog.FromContext(ctx).Info("Guests are compiled anew at each start: the compilation cache is of no use", "directory", dir, "err", err)
}

// close frees what is compiled. The guests must have been closed; the
// directories stay as they are.
func (c caches) close(ctx context.Context) error {
	var errs []error
	for _, cache := range c {
		errs = append(errs, cache.Close(ctx))
	}
	clear(c)
	return errors.Join(errs...)
}
