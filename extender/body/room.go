package body

import (
	"slices"
	"time"
)

// AwaitClient says that the request goes on as fast as its client: that the
// body arrives, as in Read, or the answer leaves. If that takes long and others
// need the memory, cut is called, once and from any goroutine, to end it.
func (b *Body) AwaitClient(cut func()) {
	l := b.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	b.since, b.cut, b.shed = time.Now(), cut, false
	l.moving[b] = struct{}{}
}

// Proceed says that AwaitClient is over, and reports whether it was cut.
func (b *Body) Proceed() (wasCut bool) {
	l := b.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.moving, b)
	return b.shed
}

// makeRoom cuts those off who take the longest, until there is room for n bytes
// more for a request, and reports whether there will be. It cuts none in vain.
func (l *Limits) makeRoom(want *Body, n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var slow []*Body
	for b := range l.moving {
		if b != want && !b.shed && time.Since(b.since) > grace {
			slow = append(slow, b)
		}
	}
	slices.SortFunc(slow, func(a, b *Body) int { return a.since.Compare(b.since) })
	missing, enough := l.used.Load()+n-l.size, 0
	for ; missing > 0 && enough < len(slow); enough++ {
		missing -= slow[enough].held.Load()
	}
	if missing > 0 {
		return false
	}
	for _, b := range slow[:enough] {
		b.shed = true
		b.cut()
	}
	return true
}
