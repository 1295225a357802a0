package door

import "k8s.io/component-base/metrics/legacyregistry"

// gauge is what the metrics of the process say of a plugin, as an operator would
// read it on /metrics.
func gauge(name, plugin string) (value float64) {
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		panic(err) // nothing is registered twice
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "plugin" && label.GetValue() == plugin {
					value += m.GetGauge().GetValue()
				}
			}
		}
	}
	return value
}
