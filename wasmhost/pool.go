package wasmhost

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// instance is an instance of a guest, and what the host knows of it.
type instance struct {
	*abi.Instance
	seen   seen
	memory uint32 // as the metrics have it, in bytes
}

// slot is a place for an instance. The goroutine that has locked it may call the
// instance, make one if there is none, and drop it.
type slot struct {
	busy     atomic.Bool
	instance *instance
	lost     bool      // the last instance has trapped
	bound    bool      // the slot is a pod's own
	_        [128]byte // keeps what another processor writes to off this cache line
}

func (s *slot) tryLock() bool { return !s.busy.Load() && s.busy.CompareAndSwap(false, true) }

// pool hands out instances: to scheduling cycles, any that is free; to a pod in
// permit or binding, its own.
type pool struct {
	slots   []slot
	hints   sync.Pool     // of *slot: the one that a processor had last
	waiting atomic.Int64  // goroutines that found no slot free
	freed   chan struct{} // wakes them

	bound sync.Map       // of pods in permit or binding, by UID: the *slot
	spare chan *instance // that such pods no longer need
}

// maxSpare is how many instances are kept for pods to come.
const maxSpare = 8

func newPool(instances int) *pool {
	return &pool{slots: make([]slot, instances), freed: make(chan struct{}, instances), spare: make(chan *instance, maxSpare)}
}

// lock waits for a slot. To park a goroutine and wake it takes longer than a call, so
// it first tries for some ten microseconds. With one instance of v2, 1,000 nodes and
// four busy cores, that schedules a fifth more pods per second than parking at once.
func (p *pool) lock() *slot {
	if len(p.slots) > 1 {
		if hint, _ := p.hints.Get().(*slot); hint != nil && hint.tryLock() {
			return hint
		}
	}
	for range tries {
		if s := p.tryLock(); s != nil {
			return s
		}
		for range pause {
		}
	}
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	for {
		if s := p.tryLock(); s != nil {
			return s
		}
		<-p.freed
	}
}

const (
	tries = 300
	pause = 100 // rounds of an empty loop between two tries
)

func (p *pool) tryLock() *slot {
	for i := range p.slots {
		if p.slots[i].tryLock() {
			return &p.slots[i]
		}
	}
	return nil
}

// unlock gives a slot back.
func (p *pool) unlock(s *slot) {
	s.busy.Store(false)
	if p.waiting.Load() > 0 {
		select {
		case p.freed <- struct{}{}:
		default: // a goroutine is being woken already
		}
	}
	if !s.bound && len(p.slots) > 1 {
		p.hints.Put(s)
	}
}

// boundTo locks the slot that a pod has to itself, if there is one.
func (p *pool) boundTo(pod types.UID) *slot {
	own, ok := p.bound.Load(pod)
	if !ok {
		return nil
	}
	s := own.(*slot)
	for !s.tryLock() { // hardly ever: the calls for a pod come one after another
		time.Sleep(10 * time.Microsecond)
	}
	return s
}

// bind makes the instance of a locked slot a pod's own.
func (p *pool) bind(pod types.UID, s *slot) {
	if _, ok := p.bound.Load(pod); ok || s.instance == nil {
		return
	}
	p.bound.Store(pod, &slot{instance: s.instance, bound: true})
	s.instance = nil
}

// release takes back the instance that was a pod's own, if there is one. It returns the
// instance if there are enough without it.
func (p *pool) release(pod types.UID) (unneeded *instance) {
	s := p.boundTo(pod)
	if s == nil {
		return nil
	}
	p.bound.Delete(pod)
	if s.instance == nil {
		return nil
	}
	select {
	case p.spare <- s.instance:
		return nil
	default:
		return s.instance
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

// all are the slots that there are now.
func (p *pool) all() (all []*slot) {
	for i := range p.slots {
		all = append(all, &p.slots[i])
	}
	for _, s := range p.bound.Range {
		all = append(all, s.(*slot))
	}
	return all
}
