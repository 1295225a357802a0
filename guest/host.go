package guest

import (
	"bytes"
	"math/bits"
	"unsafe"
)

// Host functions write into a buffer of the guest's, and return the size that
// is needed if it is too small. The buffers stay: nothing is allocated once
// they fit, and what was read is valid until the same function reads again.
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

// read lets a function of the host fill a buffer, which grows if it must: to a
// power of two, for each pod that is bigger by a little would take a hole of its
// own in the memory. The functions come wrapped because TinyGo takes no imported
// one as a value.
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
