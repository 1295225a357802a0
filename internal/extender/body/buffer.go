package body

import "sync"

// A body is given what it has announced, but at first at most small; once it has
// filled that at most large, and once it has filled that all of it.
const (
	small = 256 << 10
	large = 1 << 20 // 150 nodes, or 30,000 names
)

// step is what sizes up to large are multiples of, so that buffers can be used
// again for bodies of another length.
const step = 32 << 10

// Buffers are used again: clearing 31 MB anew takes as long as reading them.
var (
	pools [large/step + 2]sync.Pool // by multiples of step
	huge  sync.Pool
)

// get returns a buffer with a capacity of at least size.
func get(size int) *[]byte {
	pool := &huge
	if size <= large+step {
		size = (size + step - 1) / step * step
		pool = &pools[size/step]
	}
	if buffer, ok := pool.Get().(*[]byte); ok && cap(*buffer) >= size {
		return buffer
	}
	buffer := make([]byte, size)
	return &buffer
}

func put(buffer *[]byte) {
	if size := cap(*buffer); size <= large+step {
		pools[size/step].Put(buffer)
	} else {
		huge.Put(buffer)
	}
}

// grow moves the body to the next larger buffer, with room for one byte more
// than may come, so that a body that is too large shows.
func (b *Body) grow(announced, each int64) error {
	size := min(max(announced+1, step), small)
	switch have := int64(b.arrived); {
	case have > 0 && have <= announced:
		size = announced + 1
		if have < large {
			size = min(size, large)
		}
	case have > 0:
		size = min(2*have, each+1)
	}
	buffer := get(int(size))
	if err := b.limits.take(cap(*buffer)); err != nil {
		put(buffer)
		return err
	}
	if b.buffer != nil {
		copy((*buffer)[:b.arrived], (*b.buffer)[:b.arrived])
		b.release()
	}
	b.buffer = buffer
	return nil
}
