package body

import (
	"math/bits"
	"slices"
	"sync"
)

// A body begins in a buffer of the smallest size and gets one that is so many
// times larger whenever it has filled the last, at the end one that fits.
const (
	smallest = 4 << 10
	growth   = 8
	large    = 1 << 20 // 150 nodes, or 30,000 names
)

// pools are buffers up to large to use again. Their sizes are powers of two, so
// that they are good for bodies of another length.
var pools [21]sync.Pool

// get returns a buffer with a capacity of at least size, and not much more.
func get(size int) *[]byte {
	if size > large {
		return spares.get(size)
	}
	power := bits.Len(uint(size - 1))
	if buffer, ok := pools[power].Get().(*[]byte); ok {
		return buffer
	}
	buffer := make([]byte, 1<<power)
	return &buffer
}

func put(buffer *[]byte) {
	if size := cap(*buffer); size > large {
		spares.put(buffer)
	} else {
		pools[bits.Len(uint(size-1))].Put(buffer)
	}
}

// spares are larger buffers to use again: clearing 31 MB anew takes as long as
// reading them. They are no sync.Pool, since what is in there outlives a
// collection, and there would be far too much of it.
var spares spare

type spare struct {
	mu      sync.Mutex
	buffers []*[]byte
	bytes   int
}

// maxSpare is how many bytes spares may have.
const maxSpare = 64 << 20

// get returns one that fits, or a new one.
func (s *spare) get(size int) *[]byte {
	if buffer := s.find(size); buffer != nil {
		return buffer
	}
	buffer := make([]byte, size)
	return &buffer
}

func (s *spare) find(size int) *[]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, buffer := range s.buffers {
		if size <= cap(*buffer) && cap(*buffer) <= size+size/4 {
			s.remove(i)
			return buffer
		}
	}
	return nil
}

func (s *spare) put(buffer *[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffers = append(s.buffers, buffer)
	for s.bytes += cap(*buffer); s.bytes > maxSpare; {
		s.remove(0)
	}
}

func (s *spare) remove(i int) {
	s.bytes -= cap(*s.buffers[i])
	s.buffers = slices.Delete(s.buffers, i, i+1)
}

func (s *spare) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffers, s.bytes = nil, 0
}
