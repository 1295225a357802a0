package wasmhost

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// decide is ask in the framework's words.
func (c *cycle) decide(hook abi.Hook, in abi.In, note func(*instance, *abi.Out)) (abi.Verdict, *fwk.Status) {
	return c.judge(hook, func() (abi.Verdict, error) { return c.ask(hook, in, note) })
}

// judge measures what a hook answers, and puts it in the framework's words. A hook
// that is a constant, or that the guest does not export, is not asked.
func (c *cycle) judge(hook abi.Hook, ask func() (abi.Verdict, error)) (abi.Verdict, *fwk.Status) {
	if !c.plugin.guest.Active.Has(hook) {
		v := c.plugin.guest.Constants[hook]
		return v, statusOf(hook, v)
	}
	var began time.Time
	if c.measured {
		began = time.Now()
	}
	v, err := ask()
	status := c.plugin.failed(hook, err)
	if err == nil {
		status = statusOf(hook, v)
	}
	if c.measured {
		callSeconds.WithLabelValues(c.plugin.name, hook.String(), status.Code().String()).Observe(time.Since(began).Seconds())
	}
	return v, status
}

// failed is the status of a call that has failed with an error, by the failure policy.
func (p *plugin) failed(hook abi.Hook, err error) *fwk.Status {
	if err == nil || p.args.FailurePolicy != FailurePolicyIgnore {
		return fwk.AsStatus(err)
	}
	switch hook {
	case abi.PreFilter, abi.PreScore, abi.Bind:
		return fwk.NewStatus(fwk.Skip)
	case abi.PostFilter:
		return fwk.NewStatus(fwk.Unschedulable)
	}
	return nil
}

// statusOf is a guest's verdict in the framework's words. Success is nil.
func statusOf(hook abi.Hook, v abi.Verdict) *fwk.Status {
	switch {
	case v.Code == 0 && len(v.Reasons) == 0:
		return nil
	case v.Code < 0 || v.Code > int32(fwk.Pending):
		return fwk.AsStatus(fmt.Errorf("wasm: %s returned the status code %d, which does not exist", hook, v.Code))
	case !mayReturn(hook, fwk.Code(v.Code)):
		return fwk.AsStatus(fmt.Errorf("wasm: %s returned the status code %d, %s, which is not for this hook", hook, v.Code, fwk.Code(v.Code)))
	case v.Reasons == nil:
		v.Reasons = noReason
	}
	return fwk.NewStatus(fwk.Code(v.Code), v.Reasons...)
}

// mayReturn reports whether the framework takes a code from a hook. It finds no error in one
// that it does not expect.
func mayReturn(hook abi.Hook, code fwk.Code) bool {
	switch code {
	case fwk.Wait:
		return hook == abi.Permit
	case fwk.Skip:
		return hook == abi.PreFilter || hook == abi.PreScore || hook == abi.Bind
	}
	return true
}

var noReason = []string{""}

// ask calls a hook in a cycle. in has what the guest may ask beside the pod. note,
// which may be nil, takes what else than the verdict there is to know after the call.
// An error ends the guest's part in the cycle: all further calls return it.
func (c *cycle) ask(hook abi.Hook, in abi.In, note func(*instance, *abi.Out)) (abi.Verdict, error) {
	s := c.slot()
	defer c.plugin.pool.unlock(s)
	out, err := c.call(s, hook, in)
	if err != nil {
		c.fail(err) // before a call that waits for the slot has it
		return abi.Verdict{}, err
	}
	if note != nil {
		note(s.instance, out)
	}
	c.plugin.pool.countMemory(s.instance)
	return out.Verdict, nil
}

func (c *cycle) call(s *slot, hook abi.Hook, in abi.In) (*abi.Out, error) {
	if err := c.enter(s, hook); err != nil {
		return nil, err
	}
	return s.call(c, hook, in)
}

// enter prepares a locked slot for a call in a cycle: its instance has then seen what comes
// before that call.
func (c *cycle) enter(s *slot, hook abi.Hook) error {
	if err := c.mayCall(); err != nil { // perhaps no more, while this call waited
		return err
	}
	return s.ready(c, hook)
}

// slot locks the slot of a pod that has one, or any.
func (c *cycle) slot() *slot {
	if c.plugin.sharing == perPod {
		if s := c.plugin.pool.boundTo(c.pod.UID); s != nil {
			return s
		}
	}
	return c.plugin.pool.lock()
}

// cycleWithin is how many times as long as one call all calls of a scheduling cycle may
// take.
const cycleWithin = 10

// mayCall returns an error where a guest is not to be called any more in a cycle.
func (c *cycle) mayCall() error {
	if trapped := c.trapped.Load(); trapped != nil {
		return *trapped
	}
	if c.time.exceeds(cycleWithin) && !c.binding.Load() {
		return fmt.Errorf("wasm: all calls of one scheduling cycle took longer than ten times callTimeout, %s", c.plugin.args.callTimeout())
	}
	return nil
}

// fail notes that a pass has failed, and under FailurePolicyIgnore that it goes on
// without the guest. A pass for a queueing hint does not go on: it is no attempt.
func (c *cycle) fail(err error) {
	if own := (trapped{}); errors.As(err, &own) {
		err = own.error // further calls did not trap
	}
	if !c.trapped.CompareAndSwap(nil, &err) || c.plugin.args.FailurePolicy != FailurePolicyIgnore || c.hint {
		return
	}
	skipped.WithLabelValues(c.plugin.name).Inc()
	klog.FromContext(c.plugin.ctx).Error(err, "Wasm guest failed: the pod is scheduled without it", "plugin", c.plugin.name, "guest", c.plugin.url, "pod", klog.KObj(c.pod))
}
