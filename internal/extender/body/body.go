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

// A Body is the whole body of a request.
type Body struct {
	buffer *[]byte
	limits *Limits
	length int
}

// Bytes are the body's, until Release.
func (b *Body) Bytes() []byte { return (*b.buffer)[:b.length] }

// Release gives the memory back.
func (b *Body) Release() {
	if b.buffer != nil {
		b.limits.used.Add(-int64(cap(*b.buffer)))
		put(b.buffer)
		b.buffer = nil
	}
}

// Read reads source to its end. announced is the length that the client has
// announced, or -1. The error is a *TooLargeError, ErrBusy or that of source.
func (l *Limits) Read(source io.Reader, announced int64) (*Body, error) {
	each := l.each.Load()
	if announced > each {
		return nil, &TooLargeError{Max: each}
	}
	b := &Body{limits: l}
	for {
		if b.buffer == nil || b.length == cap(*b.buffer) {
			if err := b.grow(announced, each); err != nil {
				b.Release()
				return nil, err
			}
		}
		n, err := source.Read((*b.buffer)[b.length:cap(*b.buffer)])
		b.length += n
		if int64(b.length) > each {
			b.Release()
			return nil, &TooLargeError{Max: each}
		}
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			b.Release()
			return nil, err
		}
	}
}
