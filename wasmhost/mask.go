package wasmhost

import (
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// mask gives p the interfaces that its guest has: the framework finds out by
// type assertion where to call a plugin. Embedding cannot be put together at run
// time, so what goes together comes together.
func mask(p *plugin) fwk.Plugin {
	filter, score := filterHooks{p}, scoreHooks{p}
	exports := p.guest.Exports()
	filters, scores := exports.Has(abi.Filter, abi.PostFilter), exports.Has(abi.Score)
	if p.signs() {
		return maskSigning(p, filters, scores)
	}
	if exports.Has(bindingCycle...) {
		return maskBinding(p, filters, scores)
	}
	switch {
	case filters && scores:
		return struct {
			*plugin
			filterHooks
			scoreHooks
		}{p, filter, score}
	case filters:
		return struct {
			*plugin
			filterHooks
		}{p, filter}
	case scores:
		return struct {
			*plugin
			scoreHooks
		}{p, score}
	}
	return p
}

func maskBinding(p *plugin, filters, scores bool) fwk.Plugin {
	filter, score, binding := filterHooks{p}, scoreHooks{p}, newBindingHooks(p)
	switch {
	case filters && scores:
		return struct {
			*plugin
			bindingHooks
			filterHooks
			scoreHooks
		}{p, binding, filter, score}
	case filters:
		return struct {
			*plugin
			bindingHooks
			filterHooks
		}{p, binding, filter}
	case scores:
		return struct {
			*plugin
			bindingHooks
			scoreHooks
		}{p, binding, score}
	}
	return struct {
		*plugin
		bindingHooks
	}{p, binding}
}
