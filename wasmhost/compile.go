package wasmhost

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/fetch"
)

// fetch returns the bytes behind a URL.
func (h *Host) fetch(ctx context.Context, from fetch.Source, args Args) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	limit := cmp.Or(args.GuestSizeLimit.Value(), h.MaxBytes, DefaultMaxBytes)
	wasm, ok := h.fetched[args.GuestURL]
	if !ok {
		f := fetch.Fetcher{Transport: h.Transport, Timeout: cmp.Or(h.Timeout, DefaultTimeout)}
		var err error
		if wasm, err = f.Fetch(ctx, from, limit); err != nil {
			return nil, aboutSize(err)
		}
		if h.fetched == nil {
			h.fetched = map[string][]byte{}
		}
		h.fetched[args.GuestURL] = wasm
	}
	if err := fetch.CheckSize(int64(len(wasm)), limit); err != nil { // another plugin's limit was higher
		return nil, aboutSize(err)
	}
	// The error may have the digest because fetch has found a Wasm module. The digest of
	// anything else that a URL leads to is a secret.
	if is, want := fmt.Sprintf("%x", sha256.Sum256(wasm)), args.GuestSHA256; want != "" && !strings.EqualFold(is, want) {
		return nil, &ArgsError{"guestSHA256", fmt.Errorf("its SHA-256 is %s, but guestSHA256 asks for %s", is, strings.ToLower(want))}
	}
	return wasm, nil
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
	h.mu.Lock()
	defer h.mu.Unlock()
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
