// Package body reads the bodies of requests into memory, within limits: how
// long one may be, and how much all of them may take together.
//
// Memory is given only for what has arrived, so that a client that announces
// much and sends little holds little. It does not look at what it reads.
package body

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// ErrBusy means that the bodies of other requests take all the memory there is
// for bodies.
var ErrBusy = errors.New("the requests in flight take all the memory for request bodies: try again later")

// TooLargeError means that a body is longer than it may be.
type TooLargeError struct{ Max int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the request is larger than %d bytes: raise limits.bodyBytes, or set nodeCacheCapable: true in the scheduler's configuration, which sends names only", e.Max)
}

// Limits is shared by the requests of a server. The zero value lets nothing in.
type Limits struct {
	each, all atomic.Int64
	used      atomic.Int64
}

// Set changes the limits, in bytes, for the requests to come.
func (l *Limits) Set(each, all int64) {
	l.each.Store(each)
	l.all.Store(all)
}

// Used is how many bytes the bodies now in memory take.
func (l *Limits) Used() int64 { return l.used.Load() }

func (l *Limits) take(n int) error {
	if l.used.Add(int64(n)) > l.all.Load() {
		l.used.Add(-int64(n))
		return ErrBusy
	}
	return nil
}

// A Body is the body of a request, which may still be arriving.
type Body struct {
	buffer *[]byte
	limits *Limits

	mu      sync.Mutex
	change  sync.Cond
	arrived int
	over    bool
	err     error // why it ended before its end
}

// Wait returns the body as far as it has arrived, as soon as that is n bytes or
// all there will be. The bytes stay as they are until Release.
func (b *Body) Wait(n int) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.arrived < n && !b.over {
		b.change.Wait()
	}
	return (*b.buffer)[:b.arrived]
}

// Finish waits until everything has arrived and returns the error that ended
// it, if one did.
func (b *Body) Finish() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.over {
		b.change.Wait()
	}
	return b.err
}

// Release gives the memory back, once nothing arrives any more.
func (b *Body) Release() {
	_ = b.Finish()
	b.release()
}

func (b *Body) release() {
	if b.buffer != nil {
		b.limits.used.Add(-int64(cap(*b.buffer)))
		put(b.buffer)
		b.buffer = nil
	}
}

// add says that n more bytes are there, and whether they were the last.
func (b *Body) add(n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrived += n
	b.over = err != nil
	if err != io.EOF {
		b.err = err
	}
	b.change.Broadcast()
}
