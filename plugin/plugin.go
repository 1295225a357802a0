// Package plugin is the policy as a plugin compiled into the scheduler: the
// baseline that the Wasm guests and the extender are measured against. It decides
// exactly as guest v2 does, in the words of package regex.
package plugin

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Name is the name of the plugin in a scheduler's configuration.
const Name = "RegexScheduling"

// stateKey is where PreFilter leaves the selector for Filter.
var stateKey = naming.Key(Name)

// Plugin lets a pod run only on nodes whose name the regex in its annotation
// matches, and the one in its other annotation does not.
type Plugin struct {
	policy    regex.Policy
	selectors *regex.Cache
	matchings *matchings
}

var (
	_ framework.PreFilterPlugin   = (*Plugin)(nil)
	_ framework.FilterPlugin      = (*Plugin)(nil)
	_ framework.PostFilterPlugin  = (*Plugin)(nil)
	_ framework.EnqueueExtensions = (*Plugin)(nil)
	_ framework.SignPlugin        = (*Plugin)(nil)
)

// New makes the plugin. Its args are optional: {"annotation": "example.com/key"}
// reads another annotation, "excludeAnnotation" another one of what to exclude.
func New(_ context.Context, args runtime.Object, _ framework.Handle) (framework.Plugin, error) {
	policy, err := decodePolicy(args)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: args: %w", Name, err)
	}
	return &Plugin{policy: policy, selectors: regex.NewCache(policy, cacheBytes), matchings: newMatchings()}, nil
}

// Name implements framework.Plugin.
func (*Plugin) Name() string { return Name }

// state is what a scheduling cycle knows of its pod.
type state struct {
	selector *regex.Selector
	reasons  [regex.Excluded + 1][]string // by verdict
	leftOut  string                       // why nodes were not named to the scheduler, where some were
}

// LeftOut implements naming.LeftOut.
func (s *state) LeftOut() string { return s.leftOut }

// Clone implements framework.StateData. Nothing in a state depends on the nodes
// and pods that preemption tries out, so its copies share it.
func (s *state) Clone() framework.StateData { return s }

// PreFilter implements framework.PreFilterPlugin. The nodes that qualify are the
// only ones that the scheduler looks at, unless they are most of them.
func (p *Plugin) PreFilter(_ context.Context, cycle framework.CycleState, pod *v1.Pod, nodes []framework.NodeInfo) (*framework.PreFilterResult, *framework.Status) {
	selector, err := p.selectors.Selector(pod.Annotations)
	if err != nil {
		return nil, framework.NewStatus(framework.UnschedulableAndUnresolvable, err.Error())
	}
	if selector == nil {
		return nil, framework.NewStatus(framework.Skip)
	}
	s := &state{selector: selector}
	for v := regex.Mismatch; v <= regex.Excluded; v++ {
		s.reasons[v] = []string{selector.Reason(v)}
	}
	cycle.Write(stateKey, s)
	if len(nodes) == 0 {
		return nil, nil
	}
	matching := p.matchings.of(selector, nodes)
	if matching.nodes == 0 {
		return nil, framework.NewStatus(framework.UnschedulableAndUnresolvable, matching.others)
	}
	if matching.result != nil {
		s.leftOut = matching.others
	}
	return matching.result, nil
}

// SignPod implements framework.SignPlugin: pods with equal annotations get equal
// verdicts. Without it the scheduler would find out about each pod of a profile
// anew, where it could go on in the list of nodes that it made for an equal one.
func (p *Plugin) SignPod(_ context.Context, pod *v1.Pod) ([]framework.SignFragment, *framework.Status) {
	var fragments []framework.SignFragment
	for _, key := range []string{p.policy.Annotation, p.policy.ExcludeAnnotation} {
		var pattern any // nil where there is none, which is not the empty one
		if value, ok := pod.Annotations[key]; ok {
			pattern = value
		}
		fragments = append(fragments, framework.SignFragment{Key: "v1.Pod.Annotations[" + key + "]", Value: pattern})
	}
	return fragments, nil
}

// PreFilterExtensions implements framework.PreFilterPlugin. The pods on a node
// don't change its name.
func (*Plugin) PreFilterExtensions() framework.PreFilterExtensions { return nil }

// Filter implements framework.FilterPlugin. A node that does not qualify will
// not do so when pods are evicted from it either, hence UnschedulableAndUnresolvable.
//
// For a node that qualifies it allocates nothing; for another one the status,
// which can't be shared because the framework writes into it.
func (p *Plugin) Filter(_ context.Context, cycle framework.CycleState, _ *v1.Pod, node framework.NodeInfo) *framework.Status {
	data, err := cycle.Read(stateKey)
	if err != nil {
		return framework.AsStatus(fmt.Errorf("plugin %s: its PreFilter has not run: %w", Name, err))
	}
	s := data.(*state)
	if v := s.selector.Judge(node.Node().Name); v != regex.Qualifies {
		return framework.NewStatus(framework.UnschedulableAndUnresolvable, s.reasons[v]...)
	}
	return nil
}

// PostFilter implements framework.PostFilterPlugin. It tells the pod's author of
// the regex where the scheduler, which was given names, has no reason for the
// nodes that it did not look at.
func (p *Plugin) PostFilter(_ context.Context, cycle framework.CycleState, _ *v1.Pod, _ framework.NodeToStatusReader) (*framework.PostFilterResult, *framework.Status) {
	data, err := cycle.Read(stateKey)
	if err != nil { // this pod has no regex
		return nil, framework.NewStatus(framework.Unschedulable)
	}
	if s := data.(*state); s.leftOut != "" {
		return nil, framework.NewStatus(framework.Unschedulable, s.leftOut)
	}
	return nil, framework.NewStatus(framework.Unschedulable)
}
