package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// pool has the instances of a guest, and hands out any that is free.
type pool struct {
	guest    *guest
	settings abi.Settings

	mu    sync.Mutex
	freed *sync.Cond
	slots int
	// wantRoom is how many slots are acquired, and wait until others hold less.
	wantRoom int
	free     []*slot // the one that was used last at the end: its instance has seen most of the cycle

	watchdog watchdog
	closed   atomic.Bool
}

// slot is a place for an instance. The goroutine that has acquired it may call the
// instance, make one if there is none, and drop it.
type slot struct {
	pool     *pool
	instance *instance
}

// instance is an instance of a guest, and what the host knows of it.
type instance struct {
	*abi.Instance
	attempt atomic.Pointer[attempt] // that it was called for last
	history []*step                 // what it has seen of it
	memory  uint32                  // as the metrics have it, in bytes
	shown   shownNode               // during a call
}

// call asks the guest a question of a cycle, in an acquired slot. First it repeats the steps that the instance has not seen:
// what the guest answers, logs and sends then is dropped, since it was taken where the call was made first.
func (s *slot) call(c *cycle, q *question) error {
	// 1. The guest has not failed in this attempt, as it can have while the call waited for the slot.
	failed := c.failed.Load()
	if failed != nil {
		return *failed
	}
	if c.looks.Load() >= cycleWithin*looksEach && !c.binding.Load() {
		return fmt.Errorf("wasm: all calls of one scheduling cycle took longer than ten times %w, %s", abi.ErrTimeout, c.guest.args.callTimeout())
	}
	// 2. There is an instance. One can be interrupted whose long call has just ended.
	if s.instance == nil || s.instance.Interrupted() {
		if err := s.start(c.guest.ctx); err != nil {
			return err
		}
	}
	// 3. It sees what it has not seen. PreFilter, the first step, makes the guest forget another attempt.
	i := s.instance
	seen := len(i.history)
	if i.attempt.Load() != c.attempt || seen > len(q.after) || !slices.Equal(i.history, q.after[:seen]) {
		i.attempt.Store(c.attempt)
		seen = 0
	}
	for _, step := range q.after[seen:] {
		i.Quiet = true
		err := s.invoke(c, step.hook, &step.in, nil, &abi.Out{})
		i.Quiet = false
		if err != nil {
			return err
		}
	}
	// 4. It is asked.
	i.history = c.history
	return s.invoke(c, q.hook, &q.in, q.node, &q.out)
}

// invoke calls a hook of the instance, shows it what it may see and ask meanwhile, and measures the call. node is nil for a hook that is
// not about one. After an error there is no instance in the slot.
func (s *slot) invoke(c *cycle, hook abi.Hook, in *abi.In, node fwk.NodeInfo, out *abi.Out) error {
	g, i := c.guest, s.instance
	if c.trace != nil {
		defer c.trace.Call(g.name, hook.String())()
	}
	i.In = *in
	i.In.Pod = c.attempt
	i.In.Account = &c.account
	if node != nil {
		i.shown = shownNode{g.visible, node}
		i.In.Node = &i.shown
		i.In.NodeName = i.shown.name()
	}
	switch {
	case g.answers != nil:
		i.In.Scheduler = nothingElse{}
	case c.binding.Load():
		i.In.Scheduler = g.bindingView
	default:
		i.In.Scheduler = g.cycleView
	}
	var began time.Time
	if c.measured {
		began = time.Now()
	}
	err := i.Call(hook, out)
	if c.measured {
		code := fwk.Error
		if err == nil {
			code = statusOf(hook, out.Verdict).Code()
		}
		callSeconds.WithLabelValues(g.name, hook.String(), code.String()).Observe(time.Since(began).Seconds())
	}
	i.In = abi.In{} // so that it keeps no node alive
	i.shown.of = nil
	if err != nil {
		s.drop()
		if errors.Is(err, errClosed) {
			return err
		}
		traps.WithLabelValues(g.name).Inc()
		klog.FromContext(g.ctx).Error(err, "Wasm guest trapped: another instance takes its place", "plugin", g.name, "guest", g.url, "digest", g.digest,
			"pod", klog.KObj(c.pod), "export", hook.String())
		return err
	}
	size := i.MemorySize()
	if size != i.memory {
		s.pool.countMemory(i, size)
	}
	return nil
}

// acquire waits for a slot.
func (p *pool) acquire() *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) == 0 {
		p.freed.Wait()
	}
	last := len(p.free) - 1
	s := p.free[last]
	p.free = p.free[:last]
	return s
}

// release gives a slot back.
func (p *pool) release(s *slot) {
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
	p.freed.Broadcast() // some wait for a slot, others for what its instance holds
}

// start starts an instance in the slot, in place of one that is there. Its start ends when the context does.
func (s *slot) start(ctx context.Context) error {
	p := s.pool
	s.drop()
	var started *abi.Instance
	for started == nil {
		if p.closed.Load() {
			return errClosed
		}
		var err error
		started, err = p.guest.compiled.Start(ctx, p.settings)
		if err != nil && !(errors.Is(err, abi.ErrNoRoom) && p.makeRoom()) {
			return err
		}
	}
	s.instance = &instance{Instance: started}
	p.watchdog.running.Store(s.instance, nil)
	instances.WithLabelValues(p.guest.name).Inc()
	p.countMemory(s.instance, s.instance.MemorySize())
	return nil
}

// makeRoom closes the instances that are idle, which keep what a pod has made them grow to, or waits for one to
// become idle. It reports false where there is none to wait for.
func (p *pool) makeRoom() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dropIdle() {
		return true
	}
	if len(p.free)+p.wantRoom+1 == p.slots {
		return false
	}
	p.wantRoom++
	p.freed.Wait()
	p.wantRoom--
	return true
}

// dropIdle closes the instances of free slots, and reports whether there were any. The pool is locked.
func (p *pool) dropIdle() (dropped bool) {
	for _, s := range p.free {
		dropped = dropped || s.instance != nil
		s.drop()
	}
	return dropped
}

// drop closes the instance, if there is one.
func (s *slot) drop() {
	i, p := s.instance, s.pool
	if i == nil {
		return
	}
	s.instance = nil
	_ = i.Close(context.Background())
	p.watchdog.running.Delete(i)
	instances.WithLabelValues(p.guest.name).Dec()
	guestMemory.WithLabelValues(p.guest.name).Add(-float64(i.memory))
}

// countMemory tells the metrics how big an instance is.
func (p *pool) countMemory(i *instance, size uint32) {
	guestMemory.WithLabelValues(p.guest.name).Add(float64(size) - float64(i.memory))
	i.memory = size
}

// closePatience is how long end waits for calls.
const closePatience = 5 * time.Second

// end ends all instances of a pool that is closed, and the calls that are under way: each has its
// slot until it returns. It reports false if one has not returned in time, which cannot be interrupted.
func (p *pool) end() bool {
	deadline := time.Now().Add(closePatience)
	for {
		p.watchdog.interrupt(errClosed) // again, since an instance may have been started meanwhile
		p.mu.Lock()
		ended := len(p.free) == p.slots
		if ended {
			p.dropIdle()
		}
		p.mu.Unlock()
		if ended || time.Now().After(deadline) {
			return ended
		}
		time.Sleep(time.Millisecond)
	}
}
