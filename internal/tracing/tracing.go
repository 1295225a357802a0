// Package tracing makes OpenTelemetry spans of attempts to schedule pods: one for an attempt, one for each extension point in
// it, one for a call of a Wasm guest. The attempt is in the CycleState, where a plugin finds it.
package tracing

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// maxCalls is how many calls of guests have a span each, at an extension point of an attempt. All are counted.
const maxCalls = 32

const key fwk.StateKey = "wasmkwokwizardry.io/tracing"

// Attempt is the trace of an attempt. Nil is one that is not traced: its methods do nothing. They may be called from
// several goroutines.
type Attempt struct {
	tracer trace.Tracer
	ctx    context.Context // with the attempt's span

	mu         sync.Mutex
	point      string
	pointCtx   context.Context // with the point's span
	asked      int
	remembered atomic.Int64
}

// Begin begins an attempt, if it is one that the provider samples.
func Begin(provider trace.TracerProvider, state fwk.CycleState, pod *v1.Pod) *Attempt {
	tracer := provider.Tracer("wasmkwokwizardry.io/regex-scheduling")
	ctx, span := tracer.Start(context.Background(), "Scheduling attempt", trace.WithAttributes(
		attribute.String("k8s.namespace.name", pod.Namespace), attribute.String("k8s.pod.name", pod.Name),
		attribute.String("k8s.pod.uid", string(pod.UID)), attribute.String("scheduler.profile", pod.Spec.SchedulerName)))
	if !span.IsRecording() {
		return nil
	}
	a := &Attempt{tracer: tracer, ctx: ctx}
	state.Write(key, a)
	return a
}

// Of is the attempt of a CycleState.
func Of(state fwk.CycleState) *Attempt {
	data, err := state.Read(key)
	if err != nil {
		return nil
	}
	return data.(*Attempt)
}

// Clone implements fwk.StateData: what a copy of the state is used for is part of the attempt.
func (a *Attempt) Clone() fwk.StateData { return a }

// At begins an extension point, if it has not begun, and ends the one before.
func (a *Attempt) At(point string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.point != point {
		a.endPoint()
		a.point = point
		a.pointCtx, _ = a.tracer.Start(a.ctx, point)
	}
}

func (a *Attempt) endPoint() {
	if a.point == "" {
		return
	}
	span := trace.SpanFromContext(a.pointCtx)
	remembered := a.remembered.Swap(0)
	if a.asked > 0 || remembered > 0 {
		span.SetAttributes(attribute.Int("wasm.asked", a.asked), attribute.Int64("wasm.remembered", remembered))
	}
	span.End()
	a.point = ""
	a.asked = 0
}

// Call begins a call of a guest, and end ends it.
func (a *Attempt) Call(plugin, hook string) (end func()) {
	if a == nil {
		return func() {}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if a.asked > maxCalls || a.point == "" {
		return func() {}
	}
	_, span := a.tracer.Start(a.pointCtx, "Wasm guest", trace.WithAttributes(attribute.String("wasm.guest", plugin), attribute.String("wasm.hook", hook)))
	return func() { span.End() }
}

// Remembered counts what is known without a call of the guest.
func (a *Attempt) Remembered() {
	if a != nil {
		a.remembered.Add(1)
	}
}

// Set sets an attribute of the attempt.
func (a *Attempt) Set(name, value string) {
	if a != nil {
		trace.SpanFromContext(a.ctx).SetAttributes(attribute.String(name, value))
	}
}

// End ends the attempt.
func (a *Attempt) End() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endPoint()
	trace.SpanFromContext(a.ctx).End()
}
