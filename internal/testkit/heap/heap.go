// Package heap measures, in tests, how much memory something keeps.
package heap

import "runtime"

// InUse is how much memory is in use, in bytes, without what is not referred to.
func InUse() int {
	runtime.GC()
	runtime.GC() // finalizers have run
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
