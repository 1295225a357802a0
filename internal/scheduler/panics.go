package scheduler

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

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
		private.Wrap(profile, "filterPlugins", func(p fwk.FilterPlugin) fwk.FilterPlugin { return caughtFilter{p} })
		private.Wrap(profile, "scorePlugins", func(p fwk.ScorePlugin) fwk.ScorePlugin { return caughtScore{p} })
		private.WrapPlugins(profile, func(ctx context.Context, c minor.Call) func() {
			return func() {
				reason := recover()
				if reason != nil {
					*c.Status = caught(ctx, c.Plugin, c.Point, reason)
				}
			}
		})
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

func caught(ctx context.Context, plugin, point string, reason any) *fwk.Status {
	return fwk.AsStatus(panicked(klog.FromContext(ctx), "plugin "+plugin, point, reason))
}

// catchForNode is deferred by the methods below: a [minor.Call] for each node would be an allocation more.
func catchForNode(ctx context.Context, plugin, point string, status **fwk.Status) {
	reason := recover()
	if reason != nil {
		*status = caught(ctx, plugin, point, reason)
	}
}

func catchPreEnqueue(p fwk.PreEnqueuePlugin) fwk.PreEnqueuePlugin { return caughtPreEnqueue{p} }

type caughtPreEnqueue struct{ fwk.PreEnqueuePlugin }

func (c caughtPreEnqueue) PreEnqueue(ctx context.Context, pod *v1.Pod) (status *fwk.Status) {
	defer catchForNode(ctx, c.Name(), "PreEnqueue", &status)
	return c.PreEnqueuePlugin.PreEnqueue(ctx, pod)
}

type caughtFilter struct{ fwk.FilterPlugin }

func (c caughtFilter) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (status *fwk.Status) {
	defer catchForNode(ctx, c.Name(), "Filter", &status)
	return c.FilterPlugin.Filter(ctx, state, pod, node)
}

type caughtScore struct{ fwk.ScorePlugin }

func (c caughtScore) Score(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer catchForNode(ctx, c.Name(), "Score", &status)
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
	defer catchForNode(ctx, c.of.Name(), "NormalizeScore", &status)
	return c.next.NormalizeScore(ctx, state, pod, scores)
}
