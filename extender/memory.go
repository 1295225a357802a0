package extender

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

var errBusy = errors.New("the requests in flight take all the memory of limits.buffers: try again later")

// memoryError means that one request would take more than all requests may.
type memoryError struct{ limit int64 }

func (e memoryError) Error() string {
	return fmt.Sprintf("the request and what is made of it would take more than %d bytes: raise limits.buffers, or set nodeCacheCapable: true in the scheduler's configuration, which sends names only", e.limit)
}

const (
	// overhead is about what a request takes besides its body: goroutine, buffers, header.
	overhead = 32 << 10
	// The first buffer of a body has the smallest size. Each next one is larger by this
	// factor; the last one fits.
	smallestBuffer = 4 << 10
	bufferGrowth   = 8
)

// memory bounds what all requests take together: their bodies, and what is built from them.
type memory struct {
	limit int64 // bytes
	free  *semaphore.Weighted
	used  atomic.Int64
}

func newMemory(limit int64) *memory {
	return &memory{limit: limit, free: semaphore.NewWeighted(limit)}
}

// share is the memory of one request. Its methods are for one goroutine.
type share struct {
	*memory
	taken int64
}

// take takes bytes until release. It does not block: requests that hold some memory and need
// more could block each other.
func (s *share) take(bytes int64) error {
	if s.taken+bytes > s.limit {
		return memoryError{s.limit}
	}
	if !s.free.TryAcquire(bytes) {
		return errBusy
	}
	s.taken += bytes
	s.used.Add(bytes)
	return nil
}

func (s *share) give(bytes int64) {
	s.taken -= bytes
	s.used.Add(-bytes)
	s.free.Release(bytes)
}

func (s *share) release() { s.give(s.taken) }

// read reads all of source, which has length bytes, or -1 if that is not known. The buffer
// grows with what arrives, so a client that announces much and sends little holds little.
func (s *share) read(source io.Reader, length int64) ([]byte, error) {
	if length > s.limit {
		return nil, memoryError{s.limit}
	}
	if length < 0 {
		length = s.limit
	}
	if err := s.take(overhead); err != nil {
		return nil, err
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			size := max(bufferGrowth*int64(len(body)), smallestBuffer)
			size = min(size, length+1) // one byte more finds the end
			if err := s.take(size); err != nil {
				return nil, err
			}
			before := body
			body = append(make([]byte, 0, size), before...)
			s.give(int64(cap(before)))
		}
		n, err := source.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
