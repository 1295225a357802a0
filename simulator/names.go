package simulator

import (
	"errors"
	"net/url"

	"sigs.k8s.io/yaml"
)

// errEmpty keeps an emptied editor or file from taking the plugin away unnoticed.
var errEmpty = errors.New(`the configuration is empty; for kube-scheduler as it comes, with no plugin of ours, write "kind: KubeSchedulerConfiguration"`)

// resolve makes of a configuration as it was typed the one that is run: where it
// names the extender of the simulator, that becomes its address, since
// kube-scheduler's client for extenders takes no transport. typed gives the URL
// of an extender as it was written.
func (s *Simulator) resolve(config []byte) (resolved []byte, typed func(string) string, err error) {
	written := map[string]string{}
	typed = func(url string) string {
		if original, ok := written[url]; ok {
			return original
		}
		return url
	}
	var file map[string]any
	if yaml.UnmarshalStrict(config, &file) != nil {
		return config, typed, nil // kube-scheduler says what is wrong with it
	}
	if len(file) == 0 {
		return nil, nil, errEmpty
	}
	extenders, _ := file["extenders"].([]any)
	for _, entry := range extenders {
		fields, _ := entry.(map[string]any)
		prefix, _ := fields["urlPrefix"].(string)
		if address := s.extenderURL(prefix); address != prefix {
			fields["urlPrefix"], written[address] = address, prefix
		}
	}
	hurry(file)
	resolved, err = yaml.Marshal(file)
	return resolved, typed, err
}

// hurry lifts kube-scheduler's limit of 50 requests a second, unless the
// configuration has one of its own: thousands of pods would take minutes, and the
// API server here has nothing else to do.
func hurry(file map[string]any) {
	if file["clientConnection"] == nil {
		file["clientConnection"] = map[string]any{"qps": 5000, "burst": 5000}
	}
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
