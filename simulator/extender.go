package simulator

import (
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/extender"
)

// extenderName is the host under which configurations refer to the HTTP
// extender that the simulator runs.
const extenderName = "extender"

// startExtender starts the extender as it is without any configuration: it
// answers full nodes and names alike. Only its errors are logged: what it says
// of itself belongs to its own console.
func startExtender() (*extender.Running, error) {
	return extender.Start(extender.Options{Logger: klog.Background().WithName("extender").V(2)})
}
