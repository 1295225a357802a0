package body

import "io"

// overhead is about what a request takes beside its body: a connection's
// goroutine and buffers, and its header.
const overhead = 16 << 10

// Read reads all of source, of which announced is the length that the client
// has announced, or -1. If it takes long and others need the memory, cut is
// called to end it. The error is a *TooLargeError, a *TooMuchError, ErrBusy,
// ErrShed or that of source.
func (l *Limits) Read(source io.Reader, announced int64, cut func()) (*Body, error) {
	l.mu.Lock()
	b := &Body{limits: l, each: l.each, all: l.all}
	l.mu.Unlock()
	if announced > b.each {
		return nil, &TooLargeError{b.each}
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
		if b.buffer == nil || b.length == cap(*b.buffer) {
			if err := b.grow(announced); err != nil {
				return err
			}
		}
		n, err := source.Read((*b.buffer)[b.length:cap(*b.buffer)])
		b.length += n
		if int64(b.length) > b.each {
			return &TooLargeError{b.each}
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
	most := b.each + 1
	if announced >= int64(b.length) {
		most = announced + 1
	}
	size := min(max(growth*int64(b.length), smallest), most)
	buffer := get(int(size))
	if err := b.Take(int64(cap(*buffer))); err != nil {
		put(buffer)
		return err
	}
	if old := b.buffer; old != nil {
		copy((*buffer)[:b.length], *old)
		b.give(int64(cap(*old)))
		put(old)
	}
	b.buffer = buffer
	return nil
}
