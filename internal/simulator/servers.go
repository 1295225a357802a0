package simulator

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/klog/v2"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/guestserver"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// extenderName is the host under which configurations refer to the HTTP
// extender that the simulator runs.
const extenderName = "extender"

type servers struct {
	web       *http.Server
	extender  *extender.Running
	transport *http.Transport // knows their names
}

// startServers starts the extender only if it is asked.
func startServers(webPort int, asked bool) (s servers, err error) {
	if s.web, _, err = guestserver.Start(fmt.Sprintf("127.0.0.1:%d", webPort)); err != nil {
		return s, fmt.Errorf("web server: %w", err)
	}
	s.transport = guestserver.Names(map[string]string{"static-webserver": s.web.Addr})
	if !asked {
		return s, nil
	}
	// Without any configuration it answers full nodes and names alike. Only its
	// errors are logged: the rest belongs to a console of its own.
	s.extender, err = extender.Start(extender.Options{Logger: klog.Background().WithName("extender").V(2)})
	return s, err
}

// WebServer is the address of the web server of the guests: http://127.0.0.1:port.
func (s *servers) WebServer() string { return "http://" + s.web.Addr }

func (s *servers) stopServers() error {
	var errs []error
	if s.extender != nil {
		errs = append(errs, s.extender.Stop())
	}
	if s.web != nil {
		errs = append(errs, s.web.Close())
		s.transport.CloseIdleConnections()
	}
	return errors.Join(errs...)
}

// errEmpty: an empty editor or file must not remove the plugin unnoticed.
var errEmpty = errors.New(`the configuration is empty; for an unmodified kube-scheduler, without a plugin of ours, write "kind: KubeSchedulerConfiguration"`)

// resolve returns the configuration to run. It has the address of the simulator's extender in the place of
// its name, since kube-scheduler's client for extenders takes no transport. typed returns the URL as it was written.
func (s *Simulator) resolve(text []byte) (config *kubescheduler.Configuration, typed func(string) string, err error) {
	config, err = kubescheduler.Read(text)
	switch {
	case err != nil:
		return nil, nil, err
	case config.IsEmpty():
		return nil, nil, errEmpty
	}
	written := map[string]string{}
	for i, extender := range config.Extenders {
		u, err := url.Parse(extender.URLPrefix)
		if err == nil && u.Hostname() == extenderName { // the network is never asked for it
			u.Host = s.extender.Address
			config.SetURLPrefix(i, u.String())
			written[u.String()] = extender.URLPrefix
		}
	}
	// With kube-scheduler's limit of 50 requests a second thousands of pods would take
	// minutes, and the API server here has nothing else to do.
	config.Default("clientConnection", map[string]any{"qps": 5000.0, "burst": 5000.0})
	return config, func(url string) string { return printable.URL(cmp.Or(written[url], url)) }, nil
}

// WhatIf is the function WhatIf with the plugins of this simulator.
func (s *Simulator) WhatIf(config []byte) (o engine.Options, done func() error, err error) {
	return WhatIf(config, s.settings.Plugins)
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
