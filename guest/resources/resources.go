// Package resources exports sees_resources: import it, under the name _, to have Requests of pods, and Allocatable, Requested and Pods of
// nodes, in a guest that does not declare its fields. It costs some time for each node that the guest reads.
package resources

import "wasmkwokwizardry.io/regex-scheduling/guest/internal/host"

func init() { host.Register("sees_resources", func() uint64 { seesResources(); return 0 }) }

//go:wasmexport sees_resources

// The host does not call it.
//
//export sees_resources
func seesResources() {}
