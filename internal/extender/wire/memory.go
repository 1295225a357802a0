package wire

import "sync"

// memory is what a request takes apart from its body and its strings. It is
// used again.
type memory struct {
	arena arena
	names []string
	nodes []span
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// maxMemory is the number of nodes, and of bytes of a name's 64, up to which it
// is: a rare huge request should not occupy memory for ever.
const maxMemory = 32 << 10

// Release gives the request's memory back for others. Neither the request nor
// its Names may be used after it; the strings may.
func (r *Request) Release() {
	m := r.memory
	*r = Request{}
	if m == nil || cap(m.arena.ends) > maxMemory || cap(m.arena.text) > 64*maxMemory {
		return
	}
	clear(m.names[:cap(m.names)])
	memories.Put(m)
}
