// Command v2 is the fast guest: PreFilter reads the annotation from the pod's
// wire bytes and compiles it at most once for many cycles, Filter asks the host
// for nothing but the node's name and allocates nothing.
package main

import (
	"os"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// maxSelectors bounds the compiled patterns that are kept, in bytes: some hundreds of
// those that people write.
const maxSelectors = 512 << 10

func main() {
	policy, err := regex.ParseConfig(guest.Config())
	if err != nil {
		// The host shows stderr of a guest that does not start.
		os.Stderr.WriteString("guestConfig: " + err.Error() + "\n")
		os.Exit(1)
	}
	guest.Set(newPlugin(policy))
}
