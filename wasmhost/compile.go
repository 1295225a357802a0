package wasmhost

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"

	"github.com/tetratelabs/wazero"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
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
