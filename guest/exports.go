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

// filter is the hot path. TinyGo has a function that calls the host, or that
// might allocate or trap, keep all its pointers in memory, for the collector. So
// this one has numbers only.
//
//export filter
func filter() uint32 {
	size := fetchNodeName()
	if size > uint32(len(nodeName)) { // as no node's name is
		return filterLong(size)
	}
	code := decide(size)
	if code != uint32(Success) {
		hostSetStatusReason(reason.address, reason.size)
	}
	return code
}

// reason is what decide has to say, in numbers.
var reason struct{ address, size uint32 }

// decide asks the plugin about the node whose name was fetched. Inlined, it
// would bring its pointers along.
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

// The upper half of the result is the address of a list of fields, each ended by a
// NUL, the lower half its size. Our host asks for it; the upstream one does not.
//
//export decides_by
func decidesBy() uint64 {
	declared = declared[:0]
	for _, field := range plugin.DecidesBy() {
		declared = append(append(declared, field...), 0)
	}
	return uint64(address(declared))<<32 | uint64(len(declared))
}

// report hands the reason to the host and the code to the caller: Wasm
// functions return numbers only.
func report(s Status) uint32 {
	if s.Reason != "" {
		setStatusReason(s.Reason)
	}
	return uint32(s.Code)
}

func appendUint32(b []byte, v uint32) []byte {
	return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}
