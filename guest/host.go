package guest

import (
	"bytes"
	"math/bits"
	"unsafe"
)

// Host functions write into a buffer of the guest, and return the size that is needed.
// The buffers stay: nothing is allocated once they are large enough, and what was read
// is valid until the same function reads again.
var (
	nodeName [256]byte // a node's name has 253 bytes at most
	pod      = make([]byte, 16<<10)
	config   = make([]byte, 1<<10)
	declared []byte
)

// fetchNodeName has the host write the name of the node that is being filtered
// to nodeName, if it fits, and returns its size.
func fetchNodeName() (size uint32) {
	return hostCurrentNodeName(address(nodeName[:]), uint32(len(nodeName)))
}

// currentPod returns the pod of the cycle, a v1.Pod in protobuf.
func currentPod() []byte {
	return read(&pod, func(ptr, limit uint32) uint32 { return hostCurrentPod(ptr, limit) })
}

// Config returns the guestConfig of the plugin's args, empty if there is none.
func Config() []byte {
	return bytes.Clone(read(&config, func(ptr, limit uint32) uint32 { return hostGetConfig(ptr, limit) }))
}

// read lets a host function fill a buffer. The buffer grows to a power of two: else each
// pod that is a little larger would leave another hole in the memory. The host functions
// are wrapped because TinyGo does not take an imported function as a value.
func read(buf *[]byte, fill func(ptr, limit uint32) uint32) []byte {
	n := fill(address(*buf), uint32(len(*buf)))
	if int(n) > len(*buf) {
		*buf = make([]byte, 1<<bits.Len32(n-1))
		n = fill(address(*buf), uint32(len(*buf)))
	}
	return (*buf)[:n]
}

func setStatusReason(reason string) {
	hostSetStatusReason(address(bytesOf(reason)), uint32(len(reason)))
}

func setClusterEvents(encoded []byte) {
	if len(encoded) > 0 {
		hostSetClusterEvents(address(encoded), uint32(len(encoded)))
	}
}

func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// view returns bytes as a string without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
