package simulator

import (
	"bytes"
	"errors"

	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// WhatIf is the function WhatIf with the plugins of this simulator.
func (s *Simulator) WhatIf(config []byte) (o engine.Options, done func() error, err error) {
	return WhatIf(config, s.Plugins())
}

// WhatIf makes the options of a what-if from a configuration. As in a simulator, it may name the
// guests and the extender of this program. Call done at the end. The plugins are [Config]'s.
func WhatIf(config []byte, plugins frameworkruntime.Registry) (o engine.Options, done func() error, err error) {
	controlplane.TakeLoggers()
	s := &Simulator{}
	if s.servers, err = startServers(0, bytes.Contains(config, []byte(extenderName))); err != nil {
		return o, nil, errors.Join(err, s.stopServers())
	}
	resolved, typed, err := s.resolve(config)
	if err != nil {
		return o, nil, errors.Join(err, s.stopServers())
	}
	return engine.Options{Config: resolved, Plugins: plugins, Transport: s.transport, Shown: typed, Seed: 1}, s.stopServers, nil
}
