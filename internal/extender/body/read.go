package body

import "io"

// Read reads source, of which announced is the length that the client has
// announced, or -1. It returns when all has arrived, or, if that will be much,
// when the memory for it is there: work on the beginning need not wait for the
// end. An error, now or from Finish, is a *TooLargeError, ErrBusy or that of
// source. Nobody else may read source until Finish or Release returns.
func (l *Limits) Read(source io.Reader, announced int64) (*Body, error) {
	each := l.each.Load()
	if announced > each {
		return nil, &TooLargeError{Max: each}
	}
	b := &Body{limits: l}
	b.change.L = &b.mu
	for !b.over {
		if b.buffer == nil || b.arrived == cap(*b.buffer) {
			if err := b.grow(announced, each); err != nil {
				b.release()
				return nil, err
			}
		}
		if int64(cap(*b.buffer)) > announced && announced > large {
			go b.rest(source)
			return b, nil
		}
		b.add(b.next(source, each))
	}
	if b.err != nil {
		b.release()
		return nil, b.err
	}
	return b, nil
}

// chunk is how much arrives before somebody is told.
const chunk = 256 << 10

// next reads once.
func (b *Body) next(source io.Reader, each int64) (int, error) {
	room := (*b.buffer)[b.arrived:cap(*b.buffer)]
	n, err := source.Read(room[:min(len(room), chunk)])
	if int64(b.arrived+n) > each {
		return n, &TooLargeError{Max: each}
	}
	return n, err
}

// rest reads to the end into a buffer that has room for all that was announced.
func (b *Body) rest(source io.Reader) {
	for {
		n, err := b.next(source, int64(cap(*b.buffer))-1)
		b.add(n, err)
		if err != nil {
			return
		}
	}
}
