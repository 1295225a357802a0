package simulator

import (
	"errors"
	"net/url"

	kubescheduler "wasmkwokwizardry.io/regex-scheduling/scheduler"
)

// errEmpty keeps an emptied editor or file from taking the plugin away unnoticed.
var errEmpty = errors.New(`the configuration is empty; for kube-scheduler as it comes, with no plugin of ours, write "kind: KubeSchedulerConfiguration"`)

// resolve makes of a configuration as it was typed the one that is run: where it
// names the extender of the simulator, that becomes its address, since
// kube-scheduler's client for extenders takes no transport. typed gives the URL
// of an extender as it was written.
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
		if address := s.extenderURL(extender.URLPrefix); address != extender.URLPrefix {
			config.SetURLPrefix(i, address)
			written[address] = extender.URLPrefix
		}
	}
	// With kube-scheduler's limit of 50 requests a second thousands of pods would take
	// minutes, and the API server here has nothing else to do.
	config.Default("clientConnection", map[string]any{"qps": 5000.0, "burst": 5000.0})
	return config, func(url string) string {
		if original, ok := written[url]; ok {
			return original
		}
		return url
	}, nil
}

// extenderURL leads a URL prefix to the simulator's own extender, if it names
// that. The network is never asked for the name.
func (s *Simulator) extenderURL(prefix string) string {
	u, err := url.Parse(prefix)
	if err != nil || u.Hostname() != extenderName {
		return prefix
	}
	u.Host = s.extender.Address
	return u.String()
}
