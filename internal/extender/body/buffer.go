package body

import (
	"math/bits"
	"sync"
)

// A body begins in a buffer of the smallest size and gets one that is so many
// times larger whenever it has filled the last. Up to large, sizes are powers
// of two, so that buffers can be used again for bodies of another length.
const (
	smallest = 4 << 10
	growth   = 8
	large    = 1 << 20 // 150 nodes, or 30,000 names
)

// Buffers are used again: clearing 31 MB anew takes as long as reading them.
var (
	pools [21]sync.Pool // of sizes up to large, by power of two
	huge  sync.Pool
)

// get returns a buffer with a capacity of at least size, and not much more.
func get(size int) *[]byte {
	pool := &huge
	if size <= large {
		power := bits.Len(uint(size - 1))
		pool, size = &pools[power], 1<<power
	}
	if buffer, ok := pool.Get().(*[]byte); ok && size <= cap(*buffer) && cap(*buffer) <= size+size/4 {
		return buffer
	}
	buffer := make([]byte, size)
	return &buffer
}

func put(buffer *[]byte) {
	if size := cap(*buffer); size <= large {
		pools[bits.Len(uint(size-1))].Put(buffer)
	} else {
		huge.Put(buffer)
	}
}
