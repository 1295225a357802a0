package abi

import (
	"errors"
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// Budget is how many bytes a guest may hold: its module, the code that a child compiled, and the memory and tables of all its
// instances. It is twice the memory limit of one instance where that is more: a memory that grows is moved. What wazero
// keeps beside these is not counted; the bounds of package module bound it.
const Budget = 1 << 30

// budget counts what a guest holds. What exceeds it is refused where it is asked for.
type budget struct {
	limit int64
	held  atomic.Int64
}

// take takes bytes, and reports false where there are not as many left.
func (b *budget) take(bytes int64) bool {
	for {
		held := b.held.Load()
		if held+bytes > b.limit {
			return false
		}
		if b.held.CompareAndSwap(held, held+bytes) {
			return true
		}
	}
}

// memory is the memory of an instance. wazero's own would refuse a guest that declares a maximum beyond the limit, which
// it may never need; and it moves a memory each time that it grows. Grown page by page to 256 MiB, that left 1 GiB
// of garbage.
type memory struct {
	bytes  []byte
	limit  uint64
	budget *budget
	taken  int64 // of the budget, with the tables of the instance
}

// ErrNoRoom is in the error of an instance for which the budget has no room.
var ErrNoRoom = errors.New("no room for another instance")

// Allocate implements experimental.MemoryAllocator. A guest has one memory.
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory. It returns nil beyond the limit or the budget, and
// then the guest's memory.grow returns -1.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit {
		return nil
	}
	if size > uint64(cap(m.bytes)) {
		room := min(max(size, 2*uint64(len(m.bytes))), m.limit)
		if !m.budget.take(int64(room)) { // while it is moved, both are there
			room = size
			if !m.budget.take(int64(room)) {
				return nil
			}
		}
		moved := make([]byte, size, room)
		copy(moved, m.bytes)
		m.budget.held.Add(-int64(cap(m.bytes)))
		m.taken += int64(room) - int64(cap(m.bytes))
		m.bytes = moved
	}
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free implements experimental.LinearMemory. It may be called twice.
func (m *memory) Free() {
	m.budget.held.Add(-m.taken)
	m.taken = 0
}
