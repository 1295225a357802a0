package wasmhost

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// fetched is a guest as it is stored.
type fetched struct {
	wasm []byte
	sum  [sha256.Size]byte
}

func newFetched(wasm []byte) fetched { return fetched{wasm, sha256.Sum256(wasm)} }

// check compares a guest with what its args ask for. Its digest is told only
// because it is known to be a Wasm module by then: the digest of what else a URL
// leads to is nobody's business.
func (f fetched) check(args Args) error {
	is := hex.EncodeToString(f.sum[:])
	if want := args.GuestSHA256; want != "" && !strings.EqualFold(is, want) {
		return &ArgsError{"guestSHA256", fmt.Errorf("its SHA-256 is %s, but guestSHA256 asks for %s", is, strings.ToLower(want))}
	}
	return nil
}
