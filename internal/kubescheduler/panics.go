package kubescheduler

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/private"
)

// catchPanics turns a panic of a plugin into an error of the pod at hand, which names the function,
// and logs the stack. So a plugin does not end a process that does more than schedule. Without the
// private fields it catches only what panics on the goroutine of SchedulePod.
//
// It does not catch a panic in QueueSort, PreEnqueue or a queueing hint, at the points that are for
// PodGroups only, nor on a goroutine or in an informer's handler of the plugin's own.
func catchPanics(sched *scheduler.Scheduler) {
	for _, profile := range sched.Profiles {
		private.WrapPlugins(profile, func(ctx context.Context, c minor.Call) func() {
			return func() {
				reason := recover()
				if reason != nil {
					*c.Status = fwk.AsStatus(panicked(ctx, reason))
				}
			}
		})
		parallel := private.Field[fwk.Parallelizer](profile, "parallelizer")
		if parallel != nil {
			*parallel = relaying{*parallel} // Filter, Score and NormalizeScore
		}
	}
	next := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, of framework.Framework, state fwk.CycleState, pod *hooks.Queued) (result scheduler.ScheduleResult, err error) {
		defer Recover(ctx, &err)
		return next(ctx, of, state, pod)
	}
}

// relaying panics on the goroutine that waits for pieces of work if one of them did.
type relaying struct{ fwk.Parallelizer }

// Until implements fwk.Parallelizer.
func (r relaying) Until(ctx context.Context, pieces int, do workqueue.DoWorkPieceFunc, operation string) {
	var first atomic.Pointer[caughtPanic]
	r.Parallelizer.Until(ctx, pieces, func(piece int) {
		defer func() {
			reason := recover()
			if reason != nil {
				is := caught(reason)
				first.CompareAndSwap(nil, &is)
			}
		}()
		do(piece)
	}, operation)
	is := first.Load()
	if is != nil {
		panic(*is)
	}
}

// Recover is deferred around calls of plugins. The error names the function that panicked.
func Recover(ctx context.Context, err *error) {
	reason := recover()
	if reason != nil {
		*err = panicked(ctx, reason)
	}
}

// panicked logs a panic, and makes an error of it.
func panicked(ctx context.Context, reason any) error {
	is := caught(reason)
	err := fmt.Errorf("a plugin, or the scheduler, panicked in %s: %v", is.function, is.reason)
	klog.FromContext(ctx).Error(err, "Recovered from a panic", "stack", string(is.stack))
	return err
}

// caughtPanic is also the reason of a panic that is relayed.
type caughtPanic struct {
	reason   any
	function string // which panicked
	stack    []byte
}

// caught describes the panic that is being recovered.
func caught(reason any) caughtPanic {
	is, ok := reason.(caughtPanic)
	if ok {
		return is
	}
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for panicking := false; ; {
		frame, more := frames.Next()
		if !more || panicking && !strings.HasPrefix(frame.Function, "runtime.") {
			return caughtPanic{reason, frame.Function, debug.Stack()}
		}
		panicking = panicking || frame.Function == "runtime.gopanic"
	}
}
