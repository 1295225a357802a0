//go:build !tinygo

package regex

import (
	"encoding/binary"
	"unsafe"
)

// load returns eight characters of a name from i on, the first in the lowest
// byte.
func load(name string, i int) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(name), len(name))[i:])
}
