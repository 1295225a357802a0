package wasmhost

import (
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// What hooks a guest may have before those of the binding cycle.
type (
	filtering struct {
		*plugin
		filterHooks
	}
	scoring struct {
		*plugin
		scoreHooks
	}
	deciding struct {
		*plugin
		filterHooks
		scoreHooks
	}
)

// mask gives p the interfaces of the hooks that its guest has: the framework finds out
// by type assertion where to call a plugin. A type cannot be put together at run time,
// so each combination stands here.
func mask(p *plugin) fwk.Plugin {
	filter, score, binding := filterHooks{p}, scoreHooks{p}, newBindingHooks(p)
	exports := p.guest.Exports
	filters, scores, binds := exports.Has(abi.Filter, abi.PostFilter), exports.Has(abi.Score), exports.Has(bindingCycle...)
	switch {
	case filters && scores && binds:
		return struct {
			deciding
			bindingHooks
		}{deciding{p, filter, score}, binding}
	case filters && binds:
		return struct {
			filtering
			bindingHooks
		}{filtering{p, filter}, binding}
	case scores && binds:
		return struct {
			scoring
			bindingHooks
		}{scoring{p, score}, binding}
	case binds:
		return struct {
			*plugin
			bindingHooks
		}{p, binding}
	case filters && scores:
		return deciding{p, filter, score}
	case filters:
		return filtering{p, filter}
	case scores:
		return scoring{p, score}
	}
	return p
}
