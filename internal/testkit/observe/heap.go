// Package observe is what tests see of a program that runs: its memory, its goroutines, and what it writes.
package observe

import "runtime"

// HeapInUse is how much memory is in use, in bytes, without what is not referred to.
func HeapInUse() int {
	runtime.GC()
	runtime.GC() // finalizers have run
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
