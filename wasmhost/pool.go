package wasmhost

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// pool has the instances of a guest. It hands them out: to scheduling cycles, any that is
// free; to a pod in permit or binding, its own.
type pool struct {
	plugin   *plugin
	settings abi.Settings

	mu    sync.Mutex
	freed *sync.Cond
	free  []*slot // the one that was used last at the end: its instance has seen most of the cycle

	owned       sync.Map       // by pods in permit or binding, by UID: the *slot
	ownedMemory atomic.Int64   // of their instances, when they became the pods', in bytes
	spare       chan *instance // that such pods no longer need
	watchdog    watchdog
	closed      atomic.Bool
}

// slot is a place for an instance. The goroutine that has acquired it may call the
// instance, make one if there is none, and drop it.
type slot struct {
	pool     *pool
	instance *instance
	owned    *sync.Mutex // of a pod's own slot; nil for one that is in the pool
	counted  int64       // in the pool's ownedMemory
}

// instance is an instance of a guest, and what the host knows of it.
type instance struct {
	*abi.Instance
	attempt *attempt     // that it was called for last
	history []*step      // what it has seen of it
	memory  uint32       // as the metrics have it, in bytes
	shown   declaredNode // during a call
}

// maxOwnedMemory bounds the memory of instances that are pods' own, from permit on.
const maxOwnedMemory = 1 << 30

// maxSpare is how many instances are kept for pods to come.
const maxSpare = 8

// fill makes the slots for scheduling cycles.
func (p *pool) fill(instances int) {
	p.freed = sync.NewCond(&p.mu)
	p.spare = make(chan *instance, maxSpare)
	for range instances {
		p.free = append(p.free, &slot{pool: p})
	}
}

// acquire waits for the slot of a pod that has one, or for any.
func (p *pool) acquire(pod types.UID) *slot {
	own := p.acquireOwned(pod)
	if own != nil {
		return own
	}
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

// acquireOwned waits for the slot that a pod has to itself. It returns nil if there is none.
func (p *pool) acquireOwned(pod types.UID) *slot {
	own, ok := p.owned.Load(pod)
	if !ok {
		return nil
	}
	s := own.(*slot)
	s.owned.Lock() // not for long: the calls for a pod come one after another
	return s
}

// release gives a slot back.
func (p *pool) release(s *slot) {
	if s.owned != nil {
		s.owned.Unlock()
		return
	}
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
	p.freed.Signal()
}

// give makes the instance of an acquired slot a pod's own. The pod has none yet.
func (p *pool) give(pod types.UID, s *slot) {
	size := int64(s.instance.memory)
	p.owned.Store(pod, &slot{pool: p, instance: s.instance, owned: new(sync.Mutex), counted: size})
	p.ownedMemory.Add(size)
	s.instance = nil
}

// takeBack takes back the instance that was a pod's own, if there is one, and ends it if there
// are enough without it.
func (p *pool) takeBack(pod types.UID) {
	s := p.acquireOwned(pod)
	if s == nil {
		return
	}
	defer p.release(s)
	p.owned.Delete(pod)
	p.ownedMemory.Add(-s.counted)
	if s.instance == nil {
		return
	}
	select {
	case p.spare <- s.instance:
		s.instance = nil
	default:
		s.drop()
	}
}

// provide sees to it that there is an instance.
func (s *slot) provide() error {
	p := s.pool
	if s.instance != nil && !s.instance.Interrupted() { // as one can be whose long call has just ended
		return nil
	}
	s.drop()
	if p.closed.Load() {
		return errClosed
	}
	s.instance = p.takeSpare()
	if s.instance != nil {
		return nil
	}
	started, err := p.plugin.guest.Start(p.plugin.ctx, p.settings)
	if err != nil {
		return err
	}
	s.instance = &instance{Instance: started}
	p.watchdog.running.Store(s.instance, nil)
	instances.WithLabelValues(p.plugin.name).Inc()
	p.countMemory(s.instance)
	if p.closed.Load() { // end may have looked before the instance was there
		s.drop()
		return errClosed
	}
	return nil
}

// drop closes the instance.
func (s *slot) drop() {
	s.pool.closeInstance(s.instance)
	s.instance = nil
}

// takeSpare takes an instance that no pod needs any more, or nil.
func (p *pool) takeSpare() *instance {
	select {
	case oldest := <-p.spare:
		return oldest
	default:
		return nil
	}
}

// closeInstance closes an instance, if there is one.
func (p *pool) closeInstance(i *instance) {
	if i == nil {
		return
	}
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

// end ends all instances of a pool that is closed, and the calls that are under way. It reports
// false if a call that cannot be interrupted has not returned in time.
func (p *pool) end() bool {
	deadline := time.Now().Add(closePatience)
	for p.watchdog.interrupt(errClosed) > 0 { // again where an instance is busy, or moved meanwhile
		if time.Now().After(deadline) {
			return false
		}
		p.endIdle()
		time.Sleep(time.Millisecond)
	}
	return true
}

// endIdle ends the instances that are not being called.
func (p *pool) endIdle() {
	p.mu.Lock()
	for _, s := range p.free {
		s.drop()
	}
	p.mu.Unlock()
	for _, own := range p.owned.Range {
		s := own.(*slot)
		if s.owned.TryLock() {
			s.drop()
			p.release(s)
		}
	}
	for range maxSpare {
		p.closeInstance(p.takeSpare())
	}
}
