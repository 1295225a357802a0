package wasmhost

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/compiler"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/signature"
)

// CompileInChild has every [Host] of this process compile guests in child processes, where the
// compiler has 768 MiB of memory and two minutes. A guest that takes more is an error of its start;
// without CompileInChild it can take all memory that there is.
//
// Call it first in main. The child is this program, run again, and there the call compiles a guest
// and does not return. Where no child can be started, or it cannot write to [os.TempDir], guests
// are compiled in this process, and a warning is logged. Only Linux limits the memory of a child.
func CompileInChild() { compiler.InChild() }

// load returns the guest of args, which the caller closes.
func (h *Host) load(ctx context.Context, from fetch.Source, args Args) (*abi.Guest, error) {
	wasm, err := h.fetch(ctx, from, args)
	if err != nil {
		return nil, err
	}
	guest, err := abi.Compile(ctx, wasm, abi.Options{
		MemoryLimit:   args.memoryLimit(),
		Interruptible: args.callTimeout() > 0,
	})
	if errors.Is(err, abi.ErrMemoryLimit) {
		return nil, &ArgsError{"memoryLimit", err}
	}
	return guest, err
}

// fetch returns the bytes behind a URL, if they are what args ask for.
func (h *Host) fetch(ctx context.Context, from fetch.Source, args Args) ([]byte, error) {
	wasm, err := h.fetcher().Fetch(ctx, from, cmp.Or(args.GuestSizeLimit.Value(), DefaultGuestSize))
	if errors.Is(err, fetch.ErrTooLarge) {
		return nil, &ArgsError{"guestSizeLimit", err}
	}
	if err != nil {
		return nil, err
	}
	// The error may have the digest because fetch has found a Wasm module. The digest of
	// anything else that a URL leads to is a secret.
	digest := sha256.Sum256(wasm)
	is := fmt.Sprintf("%x", digest)
	want := args.GuestSHA256
	if want != "" && !strings.EqualFold(is, want) {
		return nil, &ArgsError{"guestSHA256", fmt.Errorf("its SHA-256 is %s, but guestSHA256 asks for %s", is, strings.ToLower(want))}
	}
	if err := h.verify(ctx, from, digest, args.Verify); err != nil {
		return nil, &ArgsError{"verify", err}
	}
	return wasm, nil
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

func (h *Host) fetcher() fetch.Fetcher {
	return fetch.Fetcher{Transport: h.options.Transport, Timeout: cmp.Or(h.options.Timeout, DefaultTimeout)}
}
