package wasmhost

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/compiler"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/fetch"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/signature"
)

// CompileInChild has every [Host] of this process compile guests in child processes, where the
// compiler has 768 MiB of memory and two minutes. A guest that takes more is an error of its start;
// without CompileInChild it can take all memory that there is.
//
// Call it first in main. The child is this program, run again, and there the call compiles a guest
// and does not return. Where no child can be started, or nothing can be written to [os.TempDir], guests
// are compiled in this process, and a warning is logged. Only Linux limits the memory of a child.
func CompileInChild() { compiler.InChild() }

// sharedGuest is a guest that plugins have together. It is fetched and compiled for the first.
type sharedGuest struct {
	key    guestKey
	users  int           // plugins, and starts that are under way; with the lock of the host
	turn   chan struct{} // holds a value while somebody fetches, verifies or compiles it
	guest  *abi.Guest    // nil until it is compiled
	size   int64         // in bytes, as it was fetched
	digest fetch.Digest
}

// guestKey is what plugins have in common that share a guest.
type guestKey struct {
	url string
	abi.Options
}

// load returns the guest of args. The caller releases it.
func (h *Host) load(ctx context.Context, from fetch.Source, args Args) (*sharedGuest, error) {
	g := h.share(args)
	err := h.fill(ctx, g, from, args)
	if err != nil {
		return nil, errors.Join(err, h.release(g))
	}
	return g, nil
}

// share finds the guest of args, or makes room for it.
func (h *Host) share(args Args) *sharedGuest {
	key := guestKey{args.GuestURL, abi.Options{
		MemoryLimit:   cmp.Or(args.MemoryLimit.Value(), DefaultMemory),
		Interruptible: args.callTimeout() > 0,
		KeepIn:        args.CompilationCache,
	}}
	if h.options.NoCache {
		key.KeepIn = ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.guests[key]
	if g == nil {
		g = &sharedGuest{key: key, turn: make(chan struct{}, 1)}
		h.guests[key] = g
	}
	g.users++
	return g
}

// fill fetches and compiles the guest, or checks that one that is there is what args ask for. Starts
// come here one after another: if the first is cancelled, the next one does it.
func (h *Host) fill(ctx context.Context, g *sharedGuest, from fetch.Source, args Args) (err error) {
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if g.guest != nil {
		return h.admit(ctx, from, g.size, g.digest, args)
	}
	wasm, err := h.fetch(ctx, from, args)
	if err != nil {
		return err
	}
	g.size, g.digest = int64(len(wasm)), sha256.Sum256(wasm)
	g.guest, err = abi.Compile(ctx, wasm, g.key.Options)
	if errors.Is(err, abi.ErrMemoryLimit) {
		return &ArgsError{"memoryLimit", err}
	}
	return err
}

// release is for a plugin that no longer needs its guest. The last one closes it.
func (h *Host) release(g *sharedGuest) error {
	h.mu.Lock()
	g.users--
	last := g.users == 0
	if last {
		delete(h.guests, g.key)
	}
	h.mu.Unlock()
	if !last || g.guest == nil {
		return nil
	}
	return g.guest.Close(context.Background())
}

// fetch returns the bytes behind a URL.
func (h *Host) fetch(ctx context.Context, from fetch.Source, args Args) ([]byte, error) {
	wasm, err := h.fetcher().Fetch(ctx, from, h.limit(args))
	if err != nil {
		return nil, aboutSize(err)
	}
	return wasm, h.admit(ctx, from, int64(len(wasm)), sha256.Sum256(wasm), args)
}

// admit returns an error if a guest of this size and digest is not what args ask for.
func (h *Host) admit(ctx context.Context, from fetch.Source, size int64, digest fetch.Digest, args Args) error {
	if err := fetch.CheckSize(size, h.limit(args)); err != nil {
		return aboutSize(err)
	}
	// The error may have the digest because fetch has found a Wasm module. The digest of
	// anything else that a URL leads to is a secret.
	is := fmt.Sprintf("%x", digest)
	want := args.GuestSHA256
	if want != "" && !strings.EqualFold(is, want) {
		return &ArgsError{"guestSHA256", fmt.Errorf("its SHA-256 is %s, but guestSHA256 asks for %s", is, strings.ToLower(want))}
	}
	if err := h.verify(ctx, from, digest, args.Verify); err != nil {
		return &ArgsError{"verify", err}
	}
	return nil
}

// verify returns an error if somebody must have signed the guest and has not.
func (h *Host) verify(ctx context.Context, from fetch.Source, guest fetch.Digest, by *Verify) error {
	if by == nil {
		return nil
	}
	keys, err := signature.ReadKeys(by.Keys)
	if err != nil {
		return err
	}
	err = h.fetcher().Signed(ctx, from, guest, func(bundle []byte, digest fetch.Digest) error {
		return signature.Verify(bundle, digest, keys)
	})
	if err != nil {
		return fmt.Errorf("%w; keys that may sign: %s", err, signature.Names(keys))
	}
	return nil
}

func (h *Host) limit(args Args) int64 {
	return cmp.Or(args.GuestSizeLimit.Value(), h.options.MaxBytes, DefaultMaxBytes)
}

func (h *Host) fetcher() fetch.Fetcher {
	return fetch.Fetcher{Transport: h.options.Transport, Timeout: cmp.Or(h.options.Timeout, DefaultTimeout)}
}

// aboutSize names the field of an error about a guest that is too large.
func aboutSize(err error) error {
	if errors.Is(err, fetch.ErrTooLarge) {
		return &ArgsError{"guestSizeLimit", err}
	}
	return err
}
