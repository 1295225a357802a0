//go:build !tinygo.wasm

package guest

import "unsafe"

// host takes the place of the scheduler where plain Go compiles this package. Tests set
// its functions; one that is not set panics.
var host struct {
	currentNodeName, currentPod, getConfig func(buf []byte) (size int)
	setStatusReason, setClusterEvents      func([]byte)
}

func hostCurrentNodeName(ptr, limit uint32) uint32 {
	return uint32(host.currentNodeName(memory(ptr, limit)))
}
func hostCurrentPod(ptr, limit uint32) uint32 { return uint32(host.currentPod(memory(ptr, limit))) }
func hostGetConfig(ptr, limit uint32) uint32  { return uint32(host.getConfig(memory(ptr, limit))) }
func hostSetStatusReason(ptr, size uint32)    { host.setStatusReason(memory(ptr, size)) }
func hostSetClusterEvents(ptr, size uint32)   { host.setClusterEvents(memory(ptr, size)) }

// passed are the buffers that the addresses refer to. Real addresses do not fit into the
// 32 bits of Wasm.
var passed [][]byte

func address(b []byte) uint32 {
	passed = append(passed, b)
	return uint32(len(passed) - 1)
}

func memory(ptr, size uint32) []byte { return unsafe.Slice(unsafe.SliceData(passed[ptr]), size) }

// Only the host calls the exports; this tells the linters.
var _ = []any{enqueue, prefilter, filter, decidesBy, whereNames}
