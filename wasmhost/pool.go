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
	name, url string // of the plugin and its guest, for logs and metrics
	guest     *abi.Guest
	settings  abi.Settings
	ctx       context.Context // of the start, for the values in it

	mu      sync.Mutex
	freed   *sync.Cond
	free    []*slot // the one that was used last at the end: its instance has seen most of the cycle
	waiting int     // goroutines that found no slot free

	bound       sync.Map       // of pods in permit or binding, by UID: the *slot
	boundMemory atomic.Int64   // of their instances, when they became the pods', in bytes
	spare       chan *instance // that such pods no longer need
	watchdog    watchdog
	closed      atomic.Bool
}

// maxBoundMemory bounds the memory of instances that are pods' own, from permit on.
const maxBoundMemory = 1 << 30

// maxSpare is how many instances are kept for pods to come.
const maxSpare = 8

// fill makes the slots for scheduling cycles.
func (p *pool) fill(instances int) {
	p.freed, p.free, p.spare = sync.NewCond(&p.mu), nil, make(chan *instance, maxSpare)
	for range instances {
		p.free = append(p.free, &slot{pool: p})
	}
}

// lock waits for a slot.
func (p *pool) lock() *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting++
	for len(p.free) == 0 {
		p.freed.Wait()
	}
	p.waiting--
	return p.pop()
}

func (p *pool) pop() *slot {
	last := len(p.free) - 1
	s := p.free[last]
	p.free = p.free[:last]
	return s
}

// unlock gives a slot back.
func (p *pool) unlock(s *slot) {
	if s.bound != nil {
		s.bound.Unlock()
		return
	}
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
	p.freed.Signal()
}

// boundTo locks the slot that a pod has to itself, if there is one.
func (p *pool) boundTo(pod types.UID) *slot {
	own, ok := p.bound.Load(pod)
	if !ok {
		return nil
	}
	s := own.(*slot)
	s.bound.Lock() // nobody has it for long: the calls for a pod come one after another
	return s
}

// bind makes the instance of a locked slot a pod's own.
func (p *pool) bind(pod types.UID, s *slot) {
	if _, ok := p.bound.Load(pod); ok || s.instance == nil {
		return
	}
	p.bound.Store(pod, &slot{pool: p, instance: s.instance, bound: new(sync.Mutex), counted: int64(s.instance.memory)})
	p.boundMemory.Add(int64(s.instance.memory))
	s.instance = nil
}

// release takes back the instance that was a pod's own, if there is one, and ends it if there
// are enough without it.
func (p *pool) release(pod types.UID) {
	s := p.boundTo(pod)
	if s == nil {
		return
	}
	defer p.unlock(s)
	p.bound.Delete(pod)
	p.boundMemory.Add(-s.counted)
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
	instances.WithLabelValues(p.name).Dec()
	memory.WithLabelValues(p.name).Add(-float64(i.memory))
}

// countMemory tells the metrics how big an instance is.
func (p *pool) countMemory(i *instance) {
	if size := i.MemorySize(); size != i.memory {
		memory.WithLabelValues(p.name).Add(float64(size) - float64(i.memory))
		i.memory = size
	}
}

// closePatience is how long end waits for calls.
const closePatience = 5 * time.Second

// end ends all instances of a pool that is closed, and the calls that are under way. It reports
// false if a call that cannot be interrupted has not returned in time.
func (p *pool) end() bool {
	p.watchdog.interrupt(errClosed)
	deadline := time.Now().Add(closePatience)
	for ; p.watchdog.count() > 0; time.Sleep(time.Millisecond) { // again where an instance is busy, or moved meanwhile
		if time.Now().After(deadline) {
			return false
		}
		p.endIdle()
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
	for _, own := range p.bound.Range {
		if s := own.(*slot); s.bound.TryLock() {
			s.drop()
			p.unlock(s)
		}
	}
	for range maxSpare {
		p.closeInstance(p.takeSpare())
	}
}
