package guest

// namesBuffer is where the host writes names of nodes, each with its length in the
// byte before it.
var namesBuffer [32 << 10]byte

//export names_buffer
func whereNames() uint64 { return uint64(address(namesBuffer[:]))<<32 | uint64(len(namesBuffer)) }

// filterNames asks the plugin about many nodes at once, and writes the codes where the
// names were. There is one reason for each call: nodes that are rejected for another one
// are left for the next call.
//
//export filter_names
func filterNames(names uint32) uint32 {
	rest, rejected := namesBuffer[:], (*Status)(nil)
	for i := range names {
		length := 1 + int(rest[0])
		status := plugin.Filter(view(rest[1:length]))
		rest = rest[length:]
		switch {
		case status == nil:
			namesBuffer[i] = byte(Success)
		case rejected == nil || rejected == status: // comparing reasons would take longer than matching names
			rejected = status
			namesBuffer[i] = byte(status.Code)
		default:
			namesBuffer[i] = askedAgain
		}
	}
	if rejected != nil {
		setStatusReason(rejected.Reason)
	}
	return names
}

// askedAgain stands in place of a code for a node that the host must ask about again.
const askedAgain = 0xff
