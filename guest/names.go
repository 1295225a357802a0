package guest

// namesBuffer is where the host writes names of nodes, each with its length in the
// byte before it.
var namesBuffer [32 << 10]byte

//export names_buffer
func whereNames() uint64 { return uint64(address(namesBuffer[:]))<<32 | uint64(len(namesBuffer)) }

// filterNames asks the plugin about many nodes at once, and puts the codes where
// the names were. Nodes that are rejected for another reason than the first are
// left for another call.
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
		case rejected == nil || rejected == status: // to compare reasons takes longer than to match names
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

// askedAgain is what stands for a code where there is none.
const askedAgain = 0xff
