package wasmhost

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/fetch"
)

// programKey is what is compiled once.
type programKey struct {
	sum           [sha256.Size]byte
	memory        int64 // bytes
	interruptible bool
	cache         string
}

// compiled is a guest that plugins share.
type compiled struct {
	*abi.Guest
	key   programKey
	users int
}

// fetched is a guest as it is stored.
type fetched struct {
	wasm []byte
	sum  [sha256.Size]byte
}

// fetch returns the bytes behind a URL.
func (h *Host) fetch(ctx context.Context, from fetch.Source, args Args) (fetched, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	limit := h.sizeLimit(args)
	guest, ok := h.fetched[args.GuestURL]
	if !ok {
		f := fetch.Fetcher{Transport: h.Transport, Timeout: cmp.Or(h.Timeout, DefaultTimeout)}
		wasm, err := f.Fetch(ctx, from, limit)
		if err != nil {
			return fetched{}, aboutSize(err)
		}
		if h.fetched == nil {
			h.fetched = map[string]fetched{}
		}
		guest = fetched{wasm, sha256.Sum256(wasm)}
		h.fetched[args.GuestURL] = guest
	}
	if err := fetch.CheckSize(int64(len(guest.wasm)), limit); err != nil { // another plugin's limit was higher
		return fetched{}, aboutSize(err)
	}
	// The error may have the digest because fetch has found a Wasm module. The digest of
	// anything else that a URL leads to is a secret.
	if is, want := hex.EncodeToString(guest.sum[:]), args.GuestSHA256; want != "" && !strings.EqualFold(is, want) {
		return fetched{}, &ArgsError{"guestSHA256", fmt.Errorf("its SHA-256 is %s, but guestSHA256 asks for %s", is, strings.ToLower(want))}
	}
	return guest, nil
}

// aboutSize names the field of an error about a guest that is too large.
func aboutSize(err error) error {
	if errors.Is(err, fetch.ErrTooLarge) {
		return &ArgsError{"guestSizeLimit", err}
	}
	return err
}

// sizeLimit bounds the size of a guest, in bytes.
func (h *Host) sizeLimit(args Args) int64 {
	return cmp.Or(args.GuestSizeLimit.Value(), h.MaxBytes, DefaultMaxBytes)
}

// compile returns a guest, which release takes back.
func (h *Host) compile(ctx context.Context, guest fetched, args Args) (*compiled, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.NoCache {
		args.CompilationCache = ""
	}
	memory := cmp.Or(args.MemoryLimit.Value(), DefaultMemory)
	key := programKey{guest.sum, memory, args.callTimeout() > 0, args.CompilationCache}
	if c, ok := h.compiled[key]; ok {
		c.users++
		return c, nil
	}
	options := abi.Options{MemoryLimit: memory, Interruptible: key.interruptible}
	c := &compiled{key: key, users: 1}
	err := h.caches.with(ctx, args.CompilationCache, func(cache wazero.CompilationCache) (err error) {
		options.Cache = cache
		c.Guest, err = abi.Compile(ctx, guest.wasm, options)
		return err
	})
	if errors.Is(err, abi.ErrMemoryLimit) {
		return nil, &ArgsError{"memoryLimit", err}
	} else if err != nil {
		return nil, err
	}
	if h.compiled == nil {
		h.compiled = map[programKey]*compiled{}
	}
	h.compiled[key] = c
	return c, nil
}

// release frees a guest that no plugin uses any more.
func (h *Host) release(c *compiled) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.users--; c.users > 0 {
		return nil
	}
	delete(h.compiled, c.key)
	return c.Close(context.Background())
}
