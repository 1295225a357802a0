package body

import "sync"

// The sizes of the buffers that a body outgrows one after the other. The last
// holds 150 nodes or 30,000 names; a body that fills it has shown that it is
// serious, and gets what it has announced.
const (
	small = 64 << 10
	large = 1 << 20
)

// Buffers are used again: clearing 31 MB anew takes as long as reading them.
var smalls, larges, huges sync.Pool

// get returns a buffer with a capacity of at least size, exactly that for the
// fixed sizes.
func get(size int) *[]byte {
	pool := poolOf(size)
	if buffer, ok := pool.Get().(*[]byte); ok {
		if cap(*buffer) >= size {
			return buffer
		}
	}
	buffer := make([]byte, size)
	return &buffer
}

func put(buffer *[]byte) { poolOf(cap(*buffer)).Put(buffer) }

func poolOf(size int) *sync.Pool {
	switch {
	case size <= small:
		return &smalls
	case size <= large:
		return &larges
	}
	return &huges
}

// grow moves the body to the next larger buffer, one byte more than the most
// that may come, so that a body that is too large shows.
func (b *Body) grow(announced, each int64) error {
	size := small
	switch {
	case b.length >= large && announced > int64(b.length):
		size = int(announced) + 1
	case b.length >= large:
		size = int(min(2*int64(b.length), each+1))
	case b.length >= small:
		size = large
	}
	buffer := get(size)
	if err := b.limits.take(cap(*buffer)); err != nil {
		put(buffer)
		return err
	}
	copy((*buffer)[:b.length], b.bytesOrNone())
	b.Release()
	b.buffer = buffer
	return nil
}

func (b *Body) bytesOrNone() []byte {
	if b.buffer == nil {
		return nil
	}
	return b.Bytes()
}
