package wasmhost

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero"
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/fetch"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/signature"
)

// fetch returns the bytes behind a URL. Who asks for a URL that is being fetched waits
// for that, and for no other.
func (h *Host) fetch(ctx context.Context, from fetch.Source, args Args) ([]byte, error) {
	limit := cmp.Or(args.GuestSizeLimit.Value(), h.MaxBytes, DefaultMaxBytes)
	got, err, _ := h.fetching.Do(fmt.Sprint(limit, " ", args.GuestURL), func() (any, error) {
		h.mu.Lock()
		wasm, ok := h.fetched[args.GuestURL]
		h.mu.Unlock()
		if ok {
			return wasm, nil
		}
		wasm, err := h.fetcher().Fetch(ctx, from, limit)
		if err == nil {
			h.remember(args.GuestURL, wasm)
		}
		return wasm, err
	})
	if err != nil {
		return nil, aboutSize(err)
	}
	wasm := got.([]byte)
	if err := fetch.CheckSize(int64(len(wasm)), limit); err != nil { // another plugin's limit was higher
		return nil, aboutSize(err)
	}
	// The error may have the digest because fetch has found a Wasm module. The digest of
	// anything else that a URL leads to is a secret.
	if is, want := fmt.Sprintf("%x", sha256.Sum256(wasm)), args.GuestSHA256; want != "" && !strings.EqualFold(is, want) {
		return nil, &ArgsError{"guestSHA256", fmt.Errorf("its SHA-256 is %s, but guestSHA256 asks for %s", is, strings.ToLower(want))}
	}
	if err := h.verify(ctx, from, wasm, args.Verify); err != nil {
		return nil, &ArgsError{"verify", err}
	}
	return wasm, nil
}

// verify returns an error if somebody must have signed the guest and has not.
func (h *Host) verify(ctx context.Context, from fetch.Source, wasm []byte, by *Verify) error {
	if by == nil {
		return nil
	}
	keys, err := signature.ReadKeys(by.Keys)
	if err != nil {
		return err
	}
	bundles, digest, err := h.fetcher().Signatures(ctx, from, wasm)
	if err == nil {
		err = signature.Verify(bundles, digest, keys)
	}
	if err != nil {
		return fmt.Errorf("%w; keys that may sign: %s", err, signature.Names(keys))
	}
	return nil
}

func (h *Host) fetcher() fetch.Fetcher {
	return fetch.Fetcher{Transport: h.Transport, Timeout: cmp.Or(h.Timeout, DefaultTimeout)}
}

func (h *Host) remember(url string, wasm []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fetched == nil {
		h.fetched = map[string][]byte{}
	}
	h.fetched[url] = wasm
}

// aboutSize names the field of an error about a guest that is too large.
func aboutSize(err error) error {
	if errors.Is(err, fetch.ErrTooLarge) {
		return &ArgsError{"guestSizeLimit", err}
	}
	return err
}

// compile makes a guest. Those of the same bytes share their code.
func (h *Host) compile(ctx context.Context, wasm []byte, args Args) (guest *abi.Guest, err error) {
	h.compiling.Lock()
	defer h.compiling.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if h.caches == nil {
		h.caches = caches{}
	}
	if h.NoCache {
		args.CompilationCache = ""
	}
	options := abi.Options{MemoryLimit: cmp.Or(args.MemoryLimit.Value(), DefaultMemory), Interruptible: args.callTimeout() > 0}
	err = h.caches.with(ctx, args.CompilationCache, func(cache wazero.CompilationCache) (err error) {
		options.Cache = cache
		guest, err = abi.Compile(ctx, wasm, options)
		return err
	})
	if errors.Is(err, abi.ErrMemoryLimit) {
		return nil, &ArgsError{"memoryLimit", err}
	}
	return guest, err
}

// caches keep compiled guests: for all plugins of a Host, and in directories for the
// next start. There is one for each directory, and one in memory alone, for "". They are
// for one goroutine at a time.
type caches map[string]wazero.CompilationCache

// with compiles with the cache in a directory. A directory that is full, broken or
// read-only costs only time: with calls compile again, which must leave nothing behind
// when it fails.
func (c caches) with(ctx context.Context, dir string, compile func(wazero.CompilationCache) error) error {
	err := compile(c.in(ctx, dir))
	if err == nil || dir == "" || ctx.Err() != nil {
		return err
	}
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		warn(ctx, err, dir)
		return compile(c.in(ctx, ""))
	}
	return c.mend(ctx, dir, err, compile)
}

// mend compiles into a directory of its own, and has what is compiled take the place of the
// file that is broken: wazero does not say which one it is, and the others may be those of
// other processes.
func (c caches) mend(ctx context.Context, dir string, broken error, compile func(wazero.CompilationCache) error) error {
	fresh, err := os.MkdirTemp(dir, "mend-*")
	if err != nil {
		warn(ctx, err, dir)
		return compile(c.in(ctx, ""))
	}
	defer os.RemoveAll(fresh)
	if err := compile(c.in(ctx, fresh)); err != nil {
		return err // the guest is to blame, and not the cache
	}
	klog.FromContext(ctx).Info("A file of the compilation cache was broken, and is replaced",
		"directory", dir, "err", broken, "notReplaced", replaceFiles(dir, fresh))
	return nil
}

// replaceFiles moves what wazero has written from one directory to another.
func replaceFiles(dir, from string) error {
	files, err := filepath.Glob(filepath.Join(from, "wazero-*", "*"))
	for _, file := range files {
		name, _ := filepath.Rel(from, file)
		err = errors.Join(err, os.Rename(file, filepath.Join(dir, name)))
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
			warn(ctx, err, dir)
		}
	}
	c[dir] = cache
	return cache
}

func warn(ctx context.Context, err error, dir string) {
	klog.FromContext(ctx).Info("Guests are compiled at each start: the compilation cache is unusable", "directory", dir, "err", err)
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
