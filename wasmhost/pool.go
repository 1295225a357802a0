package wasmhost

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// pool has the instances of a guest, and hands out any that is free.
type pool struct {
	plugin   *plugin
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
	attempt *attempt     // that it was called for last
	history []*step      // what it has seen of it
	memory  uint32       // as the metrics have it, in bytes
	shown   declaredNode // during a call
}

// fill makes the slots.
func (p *pool) fill(instances int) {
	p.freed = sync.NewCond(&p.mu)
	p.slots = instances
	for range instances {
		p.free = append(p.free, &slot{pool: p})
	}
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

// provide sees to it that there is an instance. Its start ends when the context does.
func (s *slot) provide(ctx context.Context) error {
	p := s.pool
	if s.instance != nil && !s.instance.Interrupted() { // as one can be whose long call has just ended
		return nil
	}
	s.drop()
	var started *abi.Instance
	for started == nil {
		if p.closed.Load() {
			return errClosed
		}
		var err error
		started, err = p.plugin.guest.Start(ctx, p.settings)
		if err != nil && !(errors.Is(err, abi.ErrNoRoom) && p.makeRoom()) {
			return err
		}
	}
	s.instance = &instance{Instance: started}
	p.watchdog.running.Store(s.instance, nil)
	instances.WithLabelValues(p.plugin.name).Inc()
	p.countMemory(s.instance)
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
	instances.WithLabelValues(p.plugin.name).Dec()
	guestMemory.WithLabelValues(p.plugin.name).Add(-float64(i.memory))
}

// countMemory tells the metrics how big an instance is.
func (p *pool) countMemory(i *instance) {
	size := i.MemorySize()
	if size != i.memory {
		guestMemory.WithLabelValues(p.plugin.name).Add(float64(size) - float64(i.memory))
		i.memory = size
	}
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
