//go:build tinygo

package regex

import "unsafe"

// load returns eight characters of a name from i on, the first in the lowest
// byte. TinyGo would make eight loads of what encoding/binary does; Wasm is
// little-endian, and the host sees to the bounds.
func load(name string, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.StringData(name)), i))
}
