package guest

// The host calls the hooks that a guest exports, and skips the others.

//export enqueue
func enqueue() {
	var encoded []byte
	for _, event := range plugin.EventsToRegister() {
		encoded = appendUint32(encoded, uint32(event.Resource))
		encoded = appendUint32(encoded, uint32(event.ActionType))
	}
	setClusterEvents(encoded)
}

//export prefilter
func prefilter() uint32 { return report(plugin.PreFilter(Pod{})) }

// filter is the hot path. In TinyGo, a function that calls the host, or that might
// allocate or trap, keeps all its pointers in memory, for the garbage collector. So this
// function has numbers only.
//
//export filter
func filter() uint32 {
	size := fetchNodeName()
	if size > uint32(len(nodeName)) { // no node has so long a name
		return filterLong(size)
	}
	code := decide(size)
	if code != uint32(Success) {
		hostSetStatusReason(reason.address, reason.size)
	}
	return code
}

// reason is where the reason of decide is.
var reason struct{ address, size uint32 }

// decide asks the plugin about the node whose name was fetched. It must not be inlined:
// its pointers would become those of filter.
//
//go:noinline
func decide(size uint32) (code uint32) {
	status := plugin.Filter(view(nodeName[:size]))
	if status == nil {
		return uint32(Success)
	}
	reason.address, reason.size = address(bytesOf(status.Reason)), uint32(len(status.Reason))
	return uint32(status.Code)
}

//go:noinline
func filterLong(size uint32) uint32 {
	long := make([]byte, size)
	hostCurrentNodeName(address(long), size)
	if status := plugin.Filter(view(long)); status != nil {
		return report(*status)
	}
	return uint32(Success)
}

// The upper half of the result is the address of a list of fields, each of which ends
// with a NUL; the lower half is its size. Our host calls it; the upstream host does not.
//
//export decides_by
func decidesBy() uint64 {
	declared = declared[:0]
	for _, field := range plugin.DecidesBy() {
		declared = append(append(declared, field...), 0)
	}
	return uint64(address(declared))<<32 | uint64(len(declared))
}

// report gives the reason to the host and returns the code: Wasm functions return
// numbers only.
func report(s Status) uint32 {
	if s.Reason != "" {
		setStatusReason(s.Reason)
	}
	return uint32(s.Code)
}

func appendUint32(b []byte, v uint32) []byte {
	return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}
