// Package host is the other side of the Wasm boundary: the functions that guests
// import, and how bytes cross. What is compiled for Wasm calls the scheduler, what is
// compiled for tests calls Now.
package host

import (
	"math/bits"
	"unsafe"
)

// Buffer is a place for what the host writes. It stays: nothing is allocated once
// it fits, and what was read is valid until the same buffer is filled again.
type Buffer []byte

// Fill lets a function of the host write to the buffer, which grows if it must: to a
// power of two, for each pod that is bigger by a little would take a hole of its
// own in the memory. Functions come wrapped because TinyGo takes no imported one as
// a value.
func (b *Buffer) Fill(fill func(ptr, limit uint32) uint32) []byte {
	n := fill(Address(*b), uint32(len(*b)))
	if int(n) > len(*b) {
		*b = make([]byte, 1<<bits.Len32(n-1))
		n = fill(Address(*b), uint32(len(*b)))
	}
	return (*b)[:n]
}

// kept is what was handed to the host last. It keeps strings out of Go's stack, which
// moves.
var kept string

// Give hands a text to a function of the host.
func Give(text string, to func(ptr, size uint32)) {
	kept = text
	to(Address(Bytes(kept)), uint32(len(kept)))
}

// Report hands the reason to the host and the code to the caller: Wasm functions
// return numbers only.
func Report(code uint32, reason string) uint32 {
	if reason != "" {
		Give(reason, func(ptr, size uint32) { SetStatusReason(ptr, size) })
	}
	return code
}

// Pair is a result of two halves.
func Pair(upper, lower uint32) uint64 { return uint64(upper)<<32 | uint64(lower) }

// Bytes returns a string's bytes without a copy.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// View returns bytes as a string without a copy.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
