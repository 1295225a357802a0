package door

import "github.com/tetratelabs/wazero/experimental"

// memory is the memory of a guest, where its size can be seen. It grows as
// wazero's own does.
type memory struct{ bytes []byte }

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(capacity, _ uint64) experimental.LinearMemory {
	m.bytes = make([]byte, 0, capacity)
	return m
}

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if more := int(size) - len(m.bytes); more > 0 {
		m.bytes = append(m.bytes, make([]byte, more)...)
	}
	return m.bytes
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() { m.bytes = nil }
