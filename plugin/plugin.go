// Package plugin is the policy of package regex as a plugin that is compiled into the
// scheduler:
//
//	app.NewSchedulerCommand(app.WithPlugin(plugin.Name, plugin.New))
//
// It decides as guest v2 does, with the same reasons.
package plugin

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Name is the name of the plugin in a scheduler's configuration.
const Name = "RegexScheduling"

// stateKey is where PreFilter leaves the rules for Filter.
var stateKey = naming.Key(Name)

// Plugin lets a pod run only on nodes with a name that matches the regex in one annotation
// of the pod, and does not match the regex in another one. Among these nodes it prefers the
// ones that match a third regex.
type Plugin struct {
	policy   regex.Policy
	patterns *regex.Cache
	handle   framework.Handle // nil if there are no events

	kinds *naming.Memo[struct{}] // by the patterns that reject nodes
	mu    sync.Mutex
	list  []framework.NodeInfo // of the last cycle
	lists int64                // how many there were
}

var (
	_ framework.PreFilterPlugin   = (*Plugin)(nil)
	_ framework.FilterPlugin      = (*Plugin)(nil)
	_ framework.PostFilterPlugin  = (*Plugin)(nil)
	_ framework.PreScorePlugin    = (*Plugin)(nil)
	_ framework.ScorePlugin       = (*Plugin)(nil)
	_ framework.EnqueueExtensions = (*Plugin)(nil)
	_ framework.SignPlugin        = (*Plugin)(nil)
)

// New makes the plugin. Its args are optional: "annotation", "excludeAnnotation" and
// "preferAnnotation" are the keys of the annotations to read.
func New(_ context.Context, args runtime.Object, handle framework.Handle) (framework.Plugin, error) {
	raw, err := yamlcheck.Args(args)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: args: %w", Name, err)
	}
	policy, err := regex.ParseConfig(raw)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: args: %w", Name, err)
	}
	return &Plugin{
		policy: policy, handle: handle,
		patterns: regex.NewCache(policy, cacheBytes), kinds: naming.NewMemo[struct{}](namedBytes, func(int, int64) {}),
	}, nil
}

// Name implements framework.Plugin.
func (*Plugin) Name() string { return Name }

// state is what PreFilter and PreScore leave for the other hooks of a cycle.
type state struct {
	rules    regex.Rules
	reasons  [regex.Verdicts][]string // by verdict
	excluded string                   // why the nodes that were not named are rejected
}

// Excluded implements naming.Excluder.
func (s *state) Excluded() string { return s.excluded }

// Clone implements framework.StateData. A state does not depend on the nodes and pods that
// preemption tries, so its copies share it.
func (s *state) Clone() framework.StateData { return s }

// PreFilter implements framework.PreFilterPlugin. It names the nodes that qualify, so the
// scheduler does not try the others. It names none if most nodes qualify.
func (p *Plugin) PreFilter(_ context.Context, cycle framework.CycleState, pod *v1.Pod, nodes []framework.NodeInfo) (*framework.PreFilterResult, *framework.Status) {
	rules, err := p.patterns.Compile(pod.Annotations)
	if err != nil {
		return nil, framework.NewStatus(framework.UnschedulableAndUnresolvable, err.Error())
	}
	if !rules.Filters() {
		return nil, framework.NewStatus(framework.Skip)
	}
	p.warn(pod)
	s := &state{rules: rules}
	for v := range s.reasons {
		s.reasons[v] = []string{rules.Reason(regex.Verdict(v))}
	}
	cycle.Write(stateKey, s)
	if len(nodes) == 0 {
		return nil, nil
	}
	named := p.named(pod, &s.rules, nodes)
	if named.Nodes == 0 {
		return nil, framework.NewStatus(framework.UnschedulableAndUnresolvable, named.Rejected)
	}
	if named.Result != nil {
		s.excluded = named.Rejected
	}
	return named.Result, nil
}

// warn sends an event about patterns that may not mean what their author expects, such as
// the hostlist node[001-128]. They are valid, so the pod is scheduled.
func (p *Plugin) warn(pod *v1.Pod) {
	if p.handle == nil {
		return
	}
	note := dialect.EventNote(p.policy, pod.Annotations)
	if note != "" {
		p.handle.EventRecorder().Eventf(pod, nil, v1.EventTypeWarning, dialect.EventReason, dialect.EventAction, "%s", note)
	}
}

// SignPod implements framework.SignPlugin: pods with equal annotations have equal results,
// so the scheduler may reuse the results of one pod for the next.
func (p *Plugin) SignPod(_ context.Context, pod *v1.Pod) ([]framework.SignFragment, *framework.Status) {
	var fragments []framework.SignFragment
	for _, key := range p.policy.Keys() {
		var pattern any // nil without the annotation, which differs from an empty pattern
		if value, ok := pod.Annotations[key]; ok {
			pattern = value
		}
		fragments = append(fragments, framework.SignFragment{Key: "v1.Pod.Annotations[" + key + "]", Value: pattern})
	}
	return fragments, nil
}

// PreFilterExtensions implements framework.PreFilterPlugin. Pods do not change the name of
// their node, so there are none.
func (*Plugin) PreFilterExtensions() framework.PreFilterExtensions { return nil }

// Filter implements framework.FilterPlugin. Preemption does not change whether a node
// qualifies, hence UnschedulableAndUnresolvable.
//
// For a node that qualifies it allocates nothing. For others it allocates the status,
// which cannot be shared because the framework writes into it.
func (p *Plugin) Filter(_ context.Context, cycle framework.CycleState, _ *v1.Pod, node framework.NodeInfo) *framework.Status {
	data, err := cycle.Read(stateKey)
	if err != nil {
		return framework.AsStatus(fmt.Errorf("plugin %s: its PreFilter has not run: %w", Name, err))
	}
	s := data.(*state)
	v := s.rules.Judge(node.Node().Name)
	if v != regex.Qualifies {
		return framework.NewStatus(framework.UnschedulableAndUnresolvable, s.reasons[v]...)
	}
	return nil
}

// PostFilter implements framework.PostFilterPlugin. It reports why nodes were not named. The
// scheduler itself says only that they didn't satisfy this plugin.
func (p *Plugin) PostFilter(_ context.Context, cycle framework.CycleState, _ *v1.Pod, _ framework.NodeToStatusReader) (*framework.PostFilterResult, *framework.Status) {
	data, err := cycle.Read(stateKey)
	if err != nil || data.(*state).excluded == "" {
		return nil, framework.NewStatus(framework.Unschedulable) // PreFilter named no nodes, so there is nothing to add
	}
	return nil, framework.NewStatus(framework.Unschedulable, data.(*state).excluded)
}

// cacheBytes bounds the memory of compiled patterns.
const cacheBytes = 16 << 20

// namedBytes bounds the memory of names of nodes. With 3,000 nodes, a kind of pods takes up to some 100 KB.
const namedBytes = 16 << 20

// kindBytes is about what a kind of pods takes before its nodes are known.
const kindBytes = 350

// named divides a list of nodes by the rules of a pod. The list is not empty. The result is
// remembered for the pod's patterns until the list changes.
func (p *Plugin) named(pod *v1.Pod, rules *regex.Rules, list []framework.NodeInfo) *naming.Named {
	p.mu.Lock()
	if !naming.Same(p.list, list) {
		p.list = list
		p.lists++
	}
	number := p.lists
	p.mu.Unlock()
	var buffer [256]byte
	key := buffer[:0]
	for _, annotation := range [...]string{p.policy.Annotation, p.policy.ExcludeAnnotation} {
		pattern, ok := pod.Annotations[annotation]
		key = naming.AppendValue(key, pattern, ok)
	}
	kind := p.kinds.Get(key)
	if kind == nil {
		kind = p.kinds.Add(key, struct{}{}, kindBytes)
	}
	named := kind.Named(number)
	if named == nil {
		named = naming.Divide(list, func(i int) string { return rules.Reason(rules.Judge(list[i].Node().Name)) })
		kind.SetNamed(number, named)
	}
	return named
}
