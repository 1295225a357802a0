// Package body reads the bodies of requests into memory, within two limits: the length of
// a body, and the memory of all requests together, with what is built from their bodies.
//
// A request gets memory only for what has arrived, so that a client that announces much and
// sends little holds little. When memory runs short, the requests whose clients are the
// slowest to send or to receive are cut off. The package does not look at what it reads.
// It is no API.
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

// ErrBusy means that other requests have all the memory.
var ErrBusy = errors.New("the requests in flight take all the memory of limits.buffers: try again later")

// ErrShed means that the request was cut off to give its memory to others.
var ErrShed = errors.New("the memory of limits.buffers was needed for others, and this request took the longest to arrive: try again later")

// TooLargeError means that a body is longer than Max or, if Memory is set, that the request
// would take more memory than there is for all requests.
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
	// overhead is about what a request takes besides its body: goroutine, buffers, header.
	overhead = 16 << 10
	// The first buffer of a body has the smallest size. Each next one is larger by this
	// factor; the last one fits.
	smallest = 4 << 10
	growth   = 8
	// patience is how long Take waits for memory of requests that were cut off.
	patience = time.Second
	// grace is how long a client may take to send or to receive before it can be cut off.
	grace = time.Second
	// tidyAfter is how long after the last large request its memory goes back to the
	// system. The Go runtime alone would keep it for minutes.
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
	awaiting map[*Body]struct{} // bodies whose clients send or receive
}

// NewLimits returns limits in bytes: of a body, and of all requests together.
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

	// Guarded by the limits' lock:
	since time.Time
	cut   func()
	shed  bool
}

// Read reads all of source. announced is the length in the header, or -1. cut must end the
// reading: it is called if the client is slow and others need the memory. The error is a
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

// grow moves the body to a larger buffer. It has room for one byte more than allowed, to
// find bodies that are too large, and the end of the others.
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

// Bytes returns what has arrived.
func (b *Body) Bytes() []byte { return b.bytes }

// Take takes memory for the request until Release. The error is ErrBusy or a
// *TooLargeError.
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

// AwaitClient begins a time in which the request waits for its client, to send as in Read
// or to receive the answer. If the client is slow and others need the memory, cut is
// called, once and from any goroutine.
func (b *Body) AwaitClient(cut func()) {
	l := b.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	b.since, b.cut, b.shed = time.Now(), cut, false
	l.awaiting[b] = struct{}{}
}

// Proceed ends that time, and reports whether cut was called.
func (b *Body) Proceed() (wasCut bool) {
	l := b.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.awaiting, b)
	return b.shed
}

// makeRoom cuts off the slowest clients until there is room for n bytes, and reports
// whether there will be. If cutting off all slow ones is not enough, it cuts off none.
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
