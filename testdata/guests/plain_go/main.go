// The example of docs/guests.md in Go: no pod may run on a node whose name begins
// with "gpu-".
package main

import (
	"bytes"
	"unsafe"
)

//go:wasmimport k8s.io/scheduler currentNodeName
func currentNodeName(buf unsafe.Pointer, limit uint32) uint32

//go:wasmimport k8s.io/scheduler result.status_reason
func statusReason(reason string)

var (
	name   [253]byte
	prefix []byte
)

func init() { prefix = []byte("gpu-") } // main is not called

//go:wasmexport filter
func filter() uint32 {
	size := currentNodeName(unsafe.Pointer(&name), uint32(len(name)))
	if !bytes.HasPrefix(name[:size], prefix) {
		return 0 // Success
	}
	statusReason("node(s) were for GPUs only")
	return 3 // UnschedulableAndUnresolvable
}

func main() {}
