// Package body reads the bodies of requests into memory, within limits: how
// long one may be, and how much all requests may take together, with what is
// built from their bodies.
//
// Memory is given only for what has arrived, so that a client that announces
// much and sends little holds little, and where it runs short those who take
// the longest to send, or to take their answer, make room for others. The
// package does not look at what it reads. It is no API.
package body

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrBusy means that other requests take all the memory there is.
var ErrBusy = errors.New("the requests in flight take all the memory of limits.buffers: try again later")

// ErrShed means that the request has made room for others.
var ErrShed = errors.New("the memory of limits.buffers was needed for others, and this request took the longest to arrive: try again later")

// TooLargeError means that a body is longer than it may be, or, if Memory is set,
// that a request would take more memory than there is for all of them.
type TooLargeError struct {
	Max    int64
	Memory bool
}

func (e *TooLargeError) Error() string {
	if e.Memory {
		return fmt.Sprintf("the request and what is made of it would take more than %d bytes: raise limits.buffers, or send fewer nodes", e.Max)
	}
	return fmt.Sprintf("the request is larger than %d bytes: raise limits.body, or set nodeCacheCapable: true in the scheduler's configuration, which sends names only", e.Max)
}

const (
	// overhead is about what a request takes in addition to its body: a connection's
	// goroutine and buffers, and its header.
	overhead = 16 << 10
	// A body begins in a buffer of the smallest size and gets one that is so many
	// times larger whenever it has filled the last, at the end one that fits.
	smallest = 4 << 10
	growth   = 8
	// patience is how long memory is waited for that somebody is about to give
	// back.
	patience = time.Second
	// grace is how long a request may take to arrive, and its answer to leave,
	// before others come first.
	grace = time.Second
	// tidyAfter is how long after the last large request its memory goes back to
	// the system. The runtime alone would keep it for minutes.
	tidyAfter = 10 * time.Second
	large     = 1 << 20 // 150 nodes, or 30,000 names
)

// Limits is shared by the requests of a server. Make one with NewLimits.
type Limits struct {
	each, size int64
	all        *semaphore.Weighted // size bytes
	used       atomic.Int64
	tidy       *time.Timer

	mu       sync.Mutex
	awaiting map[*Body]struct{} // their clients, to send or to take the answer
}

// NewLimits returns limits in bytes: for the longest body, and for all requests
// together.
func NewLimits(each, all int64) *Limits {
	tidy := time.AfterFunc(tidyAfter, debug.FreeOSMemory)
	tidy.Stop()
	return &Limits{each: each, size: all, all: semaphore.NewWeighted(all), tidy: tidy, awaiting: make(map[*Body]struct{})}
}

// Used is how many bytes requests have taken.
func (l *Limits) Used() int64 { return l.used.Load() }

// A Body is the body of a request, and the memory that the request takes. Its
// methods are for one goroutine.
type Body struct {
	limits *Limits
	taken  atomic.Int64
	bytes  []byte

	// Under the limits' lock, while it is awaiting its client:
	since time.Time
	cut   func()
	shed  bool
}

// Read reads all of source. announced is the length that the client gave, or -1. If
// it takes long and others need the memory, cut is called to end it. The error is a
// *TooLargeError, ErrBusy, ErrShed or that of source.
func (l *Limits) Read(source io.Reader, announced int64, cut func()) (*Body, error) {
	b := &Body{limits: l}
	if announced > l.each {
		return nil, &TooLargeError{Max: l.each}
	}
	b.AwaitClient(cut)
	err := b.Take(overhead)
	if err == nil {
		err = b.read(source, announced)
	}
	if b.Proceed() {
		err = ErrShed
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

func (b *Body) read(source io.Reader, announced int64) error {
	for {
		if len(b.bytes) == cap(b.bytes) {
			if err := b.grow(announced); err != nil {
				return err
			}
		}
		n, err := source.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		if int64(len(b.bytes)) > b.limits.each {
			return &TooLargeError{Max: b.limits.each}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// grow moves the body to a larger buffer, with room for one byte more than may
// come, so that a body that is too large shows, and the end of others.
func (b *Body) grow(announced int64) error {
	length, most := int64(len(b.bytes)), b.limits.each+1
	if announced >= length {
		most = announced + 1
	}
	size := min(max(growth*length, smallest), most)
	if err := b.Take(size); err != nil {
		return err
	}
	before := b.bytes
	b.bytes = append(make([]byte, 0, size), before...)
	b.give(int64(cap(before)))
	return nil
}

// Bytes are what has arrived.
func (b *Body) Bytes() []byte { return b.bytes }

// Take takes memory for something that the request needs, until Release. The
// error is ErrBusy or a *TooLargeError.
func (b *Body) Take(n int64) error {
	if b.taken.Load()+n > b.limits.size {
		return &TooLargeError{Max: b.limits.size, Memory: true}
	}
	if !b.limits.all.TryAcquire(n) {
		if !b.limits.makeRoom(b, n) {
			return ErrBusy
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if b.limits.all.Acquire(ctx, n) != nil {
			return ErrBusy
		}
	}
	b.taken.Add(n)
	b.limits.used.Add(n)
	return nil
}

func (b *Body) give(n int64) {
	b.taken.Add(-n)
	b.limits.used.Add(-n)
	b.limits.all.Release(n)
}

// Release gives all memory back.
func (b *Body) Release() {
	b.Proceed()
	if b.taken.Load() > large {
		b.limits.tidy.Reset(tidyAfter)
	}
	b.bytes = nil
	b.give(b.taken.Load())
}

// AwaitClient says that the request goes on as fast as its client: that the
// body arrives, as in Read, or the answer leaves. If that takes long and others
// need the memory, cut is called, once and from any goroutine, to end it.
func (b *Body) AwaitClient(cut func()) {
	l := b.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	b.since, b.cut, b.shed = time.Now(), cut, false
	l.awaiting[b] = struct{}{}
}

// Proceed says that AwaitClient is over, and reports whether it was cut.
func (b *Body) Proceed() (wasCut bool) {
	l := b.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.awaiting, b)
	return b.shed
}

// makeRoom cuts those off who take the longest, until there is room for n bytes
// more for a request, and reports whether there will be. It cuts none in vain.
func (l *Limits) makeRoom(want *Body, n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var slow []*Body
	for b := range l.awaiting {
		if b != want && !b.shed && time.Since(b.since) > grace {
			slow = append(slow, b)
		}
	}
	slices.SortFunc(slow, func(a, b *Body) int { return a.since.Compare(b.since) })
	missing, enough := l.used.Load()+n-l.size, 0
	for ; missing > 0 && enough < len(slow); enough++ {
		missing -= slow[enough].taken.Load()
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
