package wasmhost

import (
	"os"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/wat"
)

const guests = "../testdata/guests/"

// readGuest returns the bytes of a fault guest.
func readGuest(t *testing.T, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(guests + name + ".wasm")
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func TestEveryGuestIsBuiltFromTheSourceBesideIt(t *testing.T) { wat.Check(t, guests) }
