package rawjson

// nesting remembers which of the containers around a place are objects, one
// bit each. The zero value stands outside of all.
type nesting struct {
	depth int
	room  int // the deepest that depth may go
	last  uint64
	outer []uint64 // full words around last
}

// push enters a container, or returns false and stands too deep.
func (n *nesting) push(object bool) bool {
	if n.depth > 0 && n.depth%64 == 0 {
		n.outer = append(n.outer, n.last)
	}
	n.depth++
	n.last <<= 1
	if object {
		n.last |= 1
	}
	return n.depth <= n.room
}

// pop leaves the innermost container.
func (n *nesting) pop() {
	n.depth--
	n.last >>= 1
	if n.depth > 0 && n.depth%64 == 0 {
		n.last = n.outer[len(n.outer)-1]
		n.outer = n.outer[:len(n.outer)-1]
	}
}

// object reports whether the innermost container is an object.
func (n *nesting) object() bool { return n.last&1 != 0 }

// closing is the byte that ends the innermost container.
func (n *nesting) closing() byte {
	if n.object() {
		return '}'
	}
	return ']'
}
