package guest

// namesBuffer is where the host writes names of nodes, each with its length in the
// byte before it.
var namesBuffer [32 << 10]byte

//export names_buffer
func whereNames() uint64 { return uint64(address(namesBuffer[:]))<<32 | uint64(len(namesBuffer)) }

// filterNames asks the plugin about many nodes at once. It puts the codes where
// the names were, and returns how many these are: the nodes up to the first one
// that is rejected for another reason than those before.
//
//export filter_names
func filterNames(names uint32) (answered uint32) {
	rest, rejected := namesBuffer[:], (*Status)(nil)
	for ; answered < names; answered++ {
		length := 1 + int(rest[0])
		status := plugin.Filter(view(rest[1:length]))
		rest = rest[length:]
		if status == nil {
			namesBuffer[answered] = byte(Success)
			continue
		}
		// To compare reasons takes longer than to match names.
		if rejected != nil && rejected != status && rejected.Reason != status.Reason {
			break
		}
		rejected = status
		namesBuffer[answered] = byte(status.Code)
	}
	if rejected != nil {
		setStatusReason(rejected.Reason)
	}
	return answered
}
