package wasmhost

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// checkDigest compares a guest with the digest that its args ask for, if they do.
// It is told apart only once it is known to be a Wasm module: the digest of what
// else a URL leads to is nobody's business.
func checkDigest(wasm []byte, want string) error {
	if want == "" {
		return nil
	}
	sum := sha256.Sum256(wasm)
	if is := hex.EncodeToString(sum[:]); !strings.EqualFold(is, want) {
		return fmt.Errorf("its SHA-256 is %s, but guestSHA256 asks for %s", is, strings.ToLower(want))
	}
	return nil
}
