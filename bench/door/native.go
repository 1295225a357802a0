package door

import (
	"context"
	"regexp"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
	native "wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func init() {
	Register(ofPlugin("native-v1", "native, the pattern compiled for each node", compilePerNodeName, newCompilePerNode))
	Register(ofPlugin("native-v2", "native, the plugin of cmd/scheduler", native.Name, native.New))
}

func ofPlugin(name, about, pluginName string, factory frameworkruntime.PluginFactory) Door {
	return Door{
		Name: name, Role: Ours, About: about,
		Open: func(ctx context.Context, cluster *work.Cluster) (Session, error) {
			pl, err := factory(ctx, nil, cluster.Handle())
			if err != nil {
				return nil, err
			}
			prefilter, _ := pl.(fwk.PreFilterPlugin)
			return &nativePlugin{plugin{cluster: cluster, filter: pl.(fwk.FilterPlugin), prefilter: prefilter}}, nil
		},
		Serve: func(context.Context) (Service, error) {
			s := Service{Config: profile(pluginName)}
			if pluginName != native.Name { // which the scheduler has anyway
				s.Plugins = frameworkruntime.Registry{pluginName: factory}
			}
			return s, nil
		},
	}
}

type nativePlugin struct{ plugin }

// PreFilter implements PreFilterer.
func (p *nativePlugin) PreFilter(pod *v1.Pod) { p.preFilter(pod) }

// Close implements Session.
func (*nativePlugin) Close() error { return nil }

// compilePerNode is the policy as a first draft would have it, and as the guest
// v1 of the talk had it: Filter alone, which compiles the pattern for each node.
type compilePerNode struct{}

const compilePerNodeName = "CompilePerNode"

func newCompilePerNode(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return compilePerNode{}, nil
}

// Name implements fwk.Plugin.
func (compilePerNode) Name() string { return compilePerNodeName }

// Filter implements fwk.FilterPlugin.
func (compilePerNode) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	pattern, found := pod.Annotations[regex.Annotation]
	if !found {
		return nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	if !re.MatchString(node.Node().Name) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) didn't match "+pattern)
	}
	return nil
}

// profile is a configuration that enables a plugin.
func profile(name string) string {
	return `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 100000, burst: 100000}
profiles:
- plugins:
    multiPoint:
      enabled:
      - name: ` + name + "\n"
}
