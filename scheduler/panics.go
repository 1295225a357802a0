package scheduler

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/private"
)

// catchPanics turns a panic of a plugin into an error of the pod at hand, which names the
// plugin, and logs the stack. So a plugin does not end a process that does more than
// schedule. Without the private fields it catches nothing.
//
// It does not catch a panic in QueueSort, which the queue has got before there is a
// scheduler, at the points that are for PodGroups only, nor on a goroutine or in an
// informer's handler of the plugin's own.
func catchPanics(sched *scheduler.Scheduler) {
	for _, profile := range sched.Profiles {
		private.Wrap(profile, "preEnqueuePlugins", catchPreEnqueue)
		private.Wrap(profile, "preFilterPlugins", func(p fwk.PreFilterPlugin) fwk.PreFilterPlugin { return caughtPreFilter{p} })
		private.Wrap(profile, "filterPlugins", func(p fwk.FilterPlugin) fwk.FilterPlugin { return caughtFilter{p} })
		private.Wrap(profile, "postFilterPlugins", func(p fwk.PostFilterPlugin) fwk.PostFilterPlugin { return caughtPostFilter{p} })
		private.Wrap(profile, "preScorePlugins", func(p fwk.PreScorePlugin) fwk.PreScorePlugin { return caughtPreScore{p} })
		private.Wrap(profile, "scorePlugins", func(p fwk.ScorePlugin) fwk.ScorePlugin { return caughtScore{p} })
		private.Wrap(profile, "reservePlugins", func(p fwk.ReservePlugin) fwk.ReservePlugin { return caughtReserve{p} })
		private.Wrap(profile, "permitPlugins", func(p fwk.PermitPlugin) fwk.PermitPlugin { return caughtPermit{p} })
		private.Wrap(profile, "preBindPlugins", func(p fwk.PreBindPlugin) fwk.PreBindPlugin {
			return caughtPreBind{minor.Asked{PreBindPlugin: p, Around: func(ctx context.Context, _ *v1.Pod, ask func() *fwk.Status) (status *fwk.Status) {
				defer caught(ctx, p.Name(), "PreBindPreFlight", &status)
				return ask()
			}}}
		})
		private.Wrap(profile, "bindPlugins", func(p fwk.BindPlugin) fwk.BindPlugin { return caughtBind{p} })
		private.Wrap(profile, "postBindPlugins", func(p fwk.PostBindPlugin) fwk.PostBindPlugin { return caughtPostBind{p} })
		private.Wrap(profile, "batchablePlugins", func(p fwk.SignPlugin) fwk.SignPlugin { return caughtSign{p} })
		parallel := private.Field[fwk.Parallelizer](profile, "parallelizer")
		if parallel != nil {
			*parallel = relaying{*parallel}
		}
	}
	catchInQueue(sched.SchedulingQueue)
	sched.SchedulePod = catchSchedulePod(sched.SchedulePod)
}

// catchInQueue does so for plugins that the queue asks.
func catchInQueue(of queue.SchedulingQueue) {
	profiles := private.Field[map[string]map[string]fwk.PreEnqueuePlugin](of, "preEnqueuePluginMap")
	if profiles != nil {
		for _, plugins := range *profiles {
			for name, plugin := range plugins {
				plugins[name] = catchPreEnqueue(plugin)
			}
		}
	}
	allHints := private.Field[queue.QueueingHintMapPerProfile](of, "queueingHintMap")
	if allHints != nil {
		for _, hints := range *allHints {
			for _, of := range hints {
				for _, hint := range of {
					hint.QueueingHintFn = catchHint(hint.PluginName, hint.QueueingHintFn)
				}
			}
		}
	}
}

// catchSchedulePod is for what is not a plugin's method, such as the copy of its state.
func catchSchedulePod(next hooks.SchedulePod) hooks.SchedulePod {
	return func(ctx context.Context, of framework.Framework, state fwk.CycleState, pod *hooks.Queued) (result scheduler.ScheduleResult, err error) {
		defer Recover(ctx, &err)
		return next(ctx, of, state, pod)
	}
}

// catchHint queues the pod, as it is done for any hint that fails.
func catchHint(plugin string, next fwk.QueueingHintFn) fwk.QueueingHintFn {
	return func(logger klog.Logger, pod *v1.Pod, before, after any) (hint fwk.QueueingHint, err error) {
		defer func() {
			reason := recover()
			if reason != nil {
				hint, err = fwk.Queue, panicked(logger, "plugin "+plugin, "its queueing hint", reason)
			}
		}()
		return next(logger, pod, before, after)
	}
}

// relaying panics where it is called if a piece of work did, so that the plugin that
// calls it is known.
type relaying struct{ fwk.Parallelizer }

// relayed is the reason of such a panic.
type relayed struct {
	reason any
	stack  []byte
}

// Until implements fwk.Parallelizer.
func (r relaying) Until(ctx context.Context, pieces int, do workqueue.DoWorkPieceFunc, operation string) {
	var first atomic.Pointer[relayed]
	r.Parallelizer.Until(ctx, pieces, func(piece int) {
		defer func() {
			reason := recover()
			if reason != nil {
				first.CompareAndSwap(nil, &relayed{reason, debug.Stack()})
			}
		}()
		do(piece)
	}, operation)
	is := first.Load()
	if is != nil {
		panic(*is)
	}
}

// Recover is deferred where it is not known whose code is called. The error names the function
// that panicked.
func Recover(ctx context.Context, err *error) {
	reason := recover()
	if reason != nil {
		*err = panicked(klog.FromContext(ctx), "a plugin, or the scheduler,", panickedIn(), reason)
	}
}

// panickedIn is the function whose panic is being recovered.
func panickedIn() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for panicking := false; ; {
		frame, more := frames.Next()
		if !more || panicking && !strings.HasPrefix(frame.Function, "runtime.") {
			return frame.Function
		}
		panicking = panicking || frame.Function == "runtime.gopanic"
	}
}

// panicked logs a panic, and makes an error of it.
func panicked(logger klog.Logger, who, where string, reason any) error {
	stack := debug.Stack()
	if is, ok := reason.(relayed); ok {
		reason, stack = is.reason, is.stack
	}
	err := fmt.Errorf("%s panicked in %s: %v", who, where, reason)
	logger.Error(err, "Recovered from a panic", "stack", string(stack))
	return err
}

// caught is deferred by the methods below.
func caught(ctx context.Context, plugin, point string, status **fwk.Status) {
	reason := recover()
	if reason != nil {
		*status = fwk.AsStatus(panicked(klog.FromContext(ctx), "plugin "+plugin, point, reason))
	}
}

func catchPreEnqueue(p fwk.PreEnqueuePlugin) fwk.PreEnqueuePlugin { return caughtPreEnqueue{p} }

type caughtPreEnqueue struct{ fwk.PreEnqueuePlugin }

func (c caughtPreEnqueue) PreEnqueue(ctx context.Context, pod *v1.Pod) (status *fwk.Status) {
	defer caught(ctx, c.Name(), "PreEnqueue", &status)
	return c.PreEnqueuePlugin.PreEnqueue(ctx, pod)
}

type caughtPreFilter struct{ fwk.PreFilterPlugin }

func (c caughtPreFilter) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer caught(ctx, c.Name(), "PreFilter", &status)
	return c.PreFilterPlugin.PreFilter(ctx, state, pod, nodes)
}

func (c caughtPreFilter) PreFilterExtensions() fwk.PreFilterExtensions {
	next := c.PreFilterPlugin.PreFilterExtensions()
	if next != nil {
		return caughtExtensions{c, next}
	}
	return nil
}

type caughtExtensions struct {
	of   fwk.Plugin
	next fwk.PreFilterExtensions
}

func (c caughtExtensions) AddPod(ctx context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, node fwk.NodeInfo) (status *fwk.Status) {
	defer caught(ctx, c.of.Name(), "AddPod", &status)
	return c.next.AddPod(ctx, state, pod, added, node)
}

func (c caughtExtensions) RemovePod(ctx context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, node fwk.NodeInfo) (status *fwk.Status) {
	defer caught(ctx, c.of.Name(), "RemovePod", &status)
	return c.next.RemovePod(ctx, state, pod, removed, node)
}

type caughtFilter struct{ fwk.FilterPlugin }

func (c caughtFilter) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (status *fwk.Status) {
	defer caught(ctx, c.Name(), "Filter", &status)
	return c.FilterPlugin.Filter(ctx, state, pod, node)
}

type caughtPostFilter struct{ fwk.PostFilterPlugin }

func (c caughtPostFilter) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (result *fwk.PostFilterResult, status *fwk.Status) {
	defer caught(ctx, c.Name(), "PostFilter", &status)
	return c.PostFilterPlugin.PostFilter(ctx, state, pod, nodes)
}

type caughtPreScore struct{ fwk.PreScorePlugin }

func (c caughtPreScore) PreScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (status *fwk.Status) {
	defer caught(ctx, c.Name(), "PreScore", &status)
	return c.PreScorePlugin.PreScore(ctx, state, pod, nodes)
}

type caughtScore struct{ fwk.ScorePlugin }

func (c caughtScore) Score(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer caught(ctx, c.Name(), "Score", &status)
	return c.ScorePlugin.Score(ctx, state, pod, node)
}

func (c caughtScore) ScoreExtensions() fwk.ScoreExtensions {
	next := c.ScorePlugin.ScoreExtensions()
	if next != nil {
		return caughtNormalize{c, next}
	}
	return nil
}

type caughtNormalize struct {
	of   fwk.Plugin
	next fwk.ScoreExtensions
}

func (c caughtNormalize) NormalizeScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod, scores fwk.NodeScoreList) (status *fwk.Status) {
	defer caught(ctx, c.of.Name(), "NormalizeScore", &status)
	return c.next.NormalizeScore(ctx, state, pod, scores)
}

type caughtReserve struct{ fwk.ReservePlugin }

func (c caughtReserve) Reserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer caught(ctx, c.Name(), "Reserve", &status)
	return c.ReservePlugin.Reserve(ctx, state, pod, node)
}

func (c caughtReserve) Unreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	var logged *fwk.Status
	defer caught(ctx, c.Name(), "Unreserve", &logged)
	c.ReservePlugin.Unreserve(ctx, state, pod, node)
}

type caughtPermit struct{ fwk.PermitPlugin }

func (c caughtPermit) Permit(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status, timeout time.Duration) {
	defer caught(ctx, c.Name(), "Permit", &status)
	return c.PermitPlugin.Permit(ctx, state, pod, node)
}

type caughtPreBind struct{ minor.Asked }

func (c caughtPreBind) PreBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer caught(ctx, c.Name(), "PreBind", &status)
	return c.PreBindPlugin.PreBind(ctx, state, pod, node)
}

type caughtBind struct{ fwk.BindPlugin }

func (c caughtBind) Bind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer caught(ctx, c.Name(), "Bind", &status)
	return c.BindPlugin.Bind(ctx, state, pod, node)
}

type caughtPostBind struct{ fwk.PostBindPlugin }

func (c caughtPostBind) PostBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	var logged *fwk.Status
	defer caught(ctx, c.Name(), "PostBind", &logged)
	c.PostBindPlugin.PostBind(ctx, state, pod, node)
}

type caughtSign struct{ fwk.SignPlugin }

func (c caughtSign) SignPod(ctx context.Context, pod *v1.Pod) (parts []fwk.SignFragment, status *fwk.Status) {
	defer caught(ctx, c.Name(), "SignPod", &status)
	return c.SignPlugin.SignPod(ctx, pod)
}
