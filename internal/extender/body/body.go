// Package body reads the bodies of requests into memory, within limits: how
// long one may be, and how much all requests may take together, with what is
// built from their bodies.
//
// Memory is given only for what has arrived, so that a client that announces
// much and sends little holds little, and where it runs short those who take
// the longest to send, or to take their answer, make room for others. The
// package does not look at what it reads.
package body

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrBusy means that other requests take all the memory there is.
var ErrBusy = errors.New("the requests in flight take all the memory of limits.buffers: try again later")

// ErrShed means that the request has made room for others.
var ErrShed = errors.New("the memory of limits.buffers was needed for others, and this request took the longest to arrive: try again later")

// TooLargeError means that a body is longer than it may be.
type TooLargeError struct{ Max int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the request is larger than %d bytes: raise limits.body, or set nodeCacheCapable: true in the scheduler's configuration, which sends names only", e.Max)
}

// TooMuchError means that a request would take more memory than there is for
// all of them.
type TooMuchError struct{ Max int64 }

func (e *TooMuchError) Error() string {
	return fmt.Sprintf("the request and what is made of it would take more than %d bytes: raise limits.buffers, or send fewer nodes", e.Max)
}

// Limits is shared by the requests of a server. The zero value lets nothing in.
type Limits struct {
	used atomic.Int64
	tidy tidy

	mu     sync.Mutex
	each   int64
	all    *account
	moving map[*Body]struct{} // that arrive, or whose answers leave
}

// account is memory for requests. Another limit is another account; requests in
// flight stay with theirs.
type account struct {
	*semaphore.Weighted
	size int64
}

// Set changes the limits, in bytes, for the requests to come.
func (l *Limits) Set(each, all int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.each = each
	if l.all == nil || l.all.size != all {
		l.all = &account{semaphore.NewWeighted(all), all}
	}
}

// Used is how many bytes requests have taken.
func (l *Limits) Used() int64 { return l.used.Load() }

// A Body is the body of a request, and the memory that the request takes. Its
// methods are for one goroutine.
type Body struct {
	limits *Limits
	each   int64
	all    *account
	held   atomic.Int64

	buffer *[]byte
	length int

	// Under the limits' lock, while it is among the moving:
	since time.Time
	cut   func()
	shed  bool
}

// Bytes are what has arrived. They stay as they are until Release.
func (b *Body) Bytes() []byte {
	if b.buffer == nil {
		return nil
	}
	return (*b.buffer)[:b.length:b.length]
}

// patience is how long memory is waited for that somebody is about to give back.
const patience = time.Second

// Take takes memory for something that the request needs, until Release. The
// error is ErrBusy or a *TooMuchError.
func (b *Body) Take(n int64) error {
	if b.held.Load()+n > b.all.size {
		return &TooMuchError{b.all.size}
	}
	if !b.all.TryAcquire(n) {
		if !b.limits.makeRoom(b, n) {
			return ErrBusy
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if b.all.Acquire(ctx, n) != nil {
			return ErrBusy
		}
	}
	b.held.Add(n)
	b.limits.used.Add(n)
	return nil
}

func (b *Body) give(n int64) {
	b.held.Add(-n)
	b.limits.used.Add(-n)
	b.all.Release(n)
}

// Release gives all memory back.
func (b *Body) Release() {
	if b.Proceed(); b.buffer != nil {
		put(b.buffer)
		b.buffer = nil
	}
	b.limits.tidy.after(b.held.Load())
	b.give(b.held.Load())
}
