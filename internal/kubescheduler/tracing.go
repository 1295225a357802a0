package kubescheduler

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	basetracing "k8s.io/component-base/tracing"
	tracingapi "k8s.io/component-base/tracing/api/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/private"
	"wasmkwokwizardry.io/regex-scheduling/internal/tracing"
)

// pluginPoints are the extension points whose span begins when one of their plugins is called.
var pluginPoints = sets.New("PreFilter", "PreScore", "Reserve", "Permit", "PreBind", "Bind")

// TraceAttempts makes a scheduler send a span for each attempt, and below it one for each extension point that has plugins.
// A span of a point ends when the next one begins, so waiting is part of Permit.
func TraceAttempts(sched *scheduler.Scheduler, provider trace.TracerProvider) {
	for name, profile := range sched.Profiles {
		sched.Profiles[name] = hooks.AroundRankNodes(tracedFramework{profile}, func(state fwk.CycleState, _ []fwk.NodeInfo) func(bool) {
			tracing.Of(state).At("RankNodes")
			return func(bool) {}
		})
		private.WrapPlugins(profile, func(_ context.Context, c minor.Call) func() {
			if pluginPoints.Has(c.Point) {
				tracing.Of(c.State).At(c.Point)
			}
			return func() {}
		})
	}
	next := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, of framework.Framework, state fwk.CycleState, pod *hooks.Queued) (scheduler.ScheduleResult, error) {
		a := tracing.Begin(provider, state, hooks.PodOf(pod))
		result, err := next(ctx, of, state, pod)
		if err != nil {
			a.Set("scheduler.message", err.Error())
		}
		if err != nil && !(errors.As(err, new(*framework.FitError)) && of.HasPostFilterPlugins()) {
			a.End()
		}
		return result, err
	}
}

// tracedFramework begins the spans of the other points, and ends those of attempts.
type tracedFramework struct{ framework.Framework }

func (t tracedFramework) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	tracing.Of(state).At("Filter")
	return t.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
}

// RunPostFilterPlugins ends an attempt that finds no node.
func (t tracedFramework) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	a := tracing.Of(state)
	a.At("PostFilter")
	result, status := t.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
	a.End()
	return result, status
}

func (t tracedFramework) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	tracing.Of(state).At("Score")
	return t.Framework.RunScorePlugins(ctx, state, pod, nodes)
}

// RunReservePluginsUnreserve ends an attempt that loses its node again.
func (t tracedFramework) RunReservePluginsUnreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	a := tracing.Of(state)
	a.At("Unreserve")
	t.Framework.RunReservePluginsUnreserve(ctx, state, pod, node)
	a.Set("scheduler.message", "node "+node+" was given up")
	a.End()
}

// RunPostBindPlugins ends an attempt that binds its pod.
func (t tracedFramework) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	a := tracing.Of(state)
	a.At("PostBind")
	t.Framework.RunPostBindPlugins(ctx, state, pod, node)
	a.Set("k8s.node.name", node)
	a.End()
}

// TracerProvider sends to the OTLP receiver that a file names. The file has a TracingConfiguration, as for the API server.
func TracerProvider(ctx context.Context, file string) (basetracing.TracerProvider, error) {
	config, err := apiserveroptions.ReadTracingConfiguration(file)
	if err != nil {
		return nil, fmt.Errorf("--tracing-config-file %s: %w", file, err)
	}
	errs := tracingapi.ValidateTracingConfiguration(config, nil, field.NewPath("tracing"))
	if len(errs) > 0 {
		return nil, fmt.Errorf("--tracing-config-file %s: %w", file, errs.ToAggregate())
	}
	return basetracing.NewProvider(ctx, config, nil, []resource.Option{
		resource.WithAttributes(attribute.String("service.name", "kube-scheduler")),
	})
}
