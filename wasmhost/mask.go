package wasmhost

import (
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// mask gives p the interfaces of the hooks that its first guest has: the framework finds out
// by type assertion where to call a plugin. A type cannot be put together at run time,
// so each combination stands here.
func mask(p *plugin) fwk.Plugin {
	filter, score, binding := filterHooks{p}, scoreHooks{p}, newBindingHooks(p)
	filters, scores, binds := p.hooks.Has(abi.Filter, abi.PostFilter), p.hooks.Has(abi.Score), p.hooks.Has(bindingCycle...)
	switch {
	case filters && scores && binds:
		return struct {
			*plugin
			filterHooks
			scoreHooks
			bindingHooks
		}{p, filter, score, binding}
	case filters && binds:
		return struct {
			*plugin
			filterHooks
			bindingHooks
		}{p, filter, binding}
	case scores && binds:
		return struct {
			*plugin
			scoreHooks
			bindingHooks
		}{p, score, binding}
	case binds:
		return struct {
			*plugin
			bindingHooks
		}{p, binding}
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
