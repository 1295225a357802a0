// Package host is the other side of the Wasm boundary: the functions that guests
// import, and how bytes cross. What is compiled for Wasm calls the scheduler, what is
// compiled for tests calls Now.
//
// An export of the packages beside this one has two directives. Go heeds go:wasmexport,
// wherever it stands before the function. TinyGo reads the comment that touches the
// function, and so export: its go:wasmexport does not work once main has returned, as
// it has in a guest that is built with -buildmode=wasi-legacy.
package host

import (
	"math/bits"
	"unsafe"
)

// Buffer is a place for what the host writes. It stays: nothing is allocated once it is
// large enough, and what was read is valid until the same buffer is filled again.
type Buffer []byte

// Fill lets a host function fill the buffer. The buffer grows to a power of two: else
// each pod that is a little larger would leave another hole in the memory. The host
// functions are wrapped because TinyGo does not take an imported function as a value.
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

// Pair is a result of two halves.
func Pair(upper, lower uint32) uint64 { return uint64(upper)<<32 | uint64(lower) }

// Bytes returns a string's bytes without a copy.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// View returns bytes as a string without a copy.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
