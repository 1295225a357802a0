package namefilter

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

// namesBuffer is where the host writes names of nodes, each with its length in the
// byte before it.
var namesBuffer [32 << 10]byte

//go:wasmexport names_buffer

//export names_buffer
func whereNames() uint64 { return host.Pair(host.Address(namesBuffer[:]), uint32(len(namesBuffer))) }

//go:wasmexport filter_names

// filterNames asks the plugin about many nodes at once, and writes the codes where the
// names were. There is one reason for each call: nodes that are rejected for another one
// are left for the next call.
//
//export filter_names
func filterNames(names uint32) uint32 {
	rest, rejected := namesBuffer[:], (*guest.Status)(nil)
	for i := range names {
		length := 1 + int(rest[0])
		status := hook(host.View(rest[1:length]))
		rest = rest[length:]
		switch {
		case status == nil:
			namesBuffer[i] = byte(guest.Success)
		case rejected == nil || rejected == status: // comparing reasons would take longer than matching names
			rejected = status
			namesBuffer[i] = byte(status.Code)
		default:
			namesBuffer[i] = askedAgain
		}
	}
	if rejected != nil {
		rejected.Report()
	}
	return names
}

// askedAgain stands in place of a code for a node that the host must ask about again.
const askedAgain = 0xff
