package wasmhost

import (
	"runtime"
	"sync"

	v1 "k8s.io/api/core/v1"
)

// encoder keeps the encoding of one pod, for all instances that ask for it: that
// of the last pod that one asked for.
//
// A message is written from its end to its beginning, since each part begins with
// its length. So a pod's size is known when it is written, and to compute it first
// takes half as long again; whether the buffer is big enough shows on the way. The
// zero value is ready to use.
type encoder struct {
	mu     sync.Mutex
	of     *podMessage
	buffer []byte
	size   int // of the encoding, at the end of the buffer
}

// podMessage is the pod of a pass.
type podMessage struct {
	pod     *v1.Pod
	encoder *encoder
}

// Size implements abi.Message.
func (m *podMessage) Size() int {
	m.encoder.mu.Lock()
	defer m.encoder.mu.Unlock()
	encoded, err := m.encoder.encode(m)
	if err != nil {
		return m.pod.Size() // MarshalToSizedBuffer returns the error
	}
	return len(encoded)
}

// MarshalToSizedBuffer implements abi.Message.
func (m *podMessage) MarshalToSizedBuffer(buffer []byte) (int, error) {
	m.encoder.mu.Lock()
	defer m.encoder.mu.Unlock()
	encoded, err := m.encoder.encode(m)
	if err != nil {
		return 0, err
	}
	return copy(buffer, encoded), nil
}

// encode returns the encoding of a pod. The encoder must be locked until it is
// used.
func (e *encoder) encode(m *podMessage) ([]byte, error) {
	if e.of != m {
		e.of = nil
		size, fits, err := e.fill(m.pod)
		if !fits {
			e.buffer = make([]byte, 2*m.pod.Size())
			size, err = m.pod.MarshalToSizedBuffer(e.buffer)
		}
		if err != nil {
			return nil, err
		}
		e.of, e.size = m, size
	}
	return e.buffer[len(e.buffer)-e.size:], nil
}

// fill writes a pod to the end of the buffer. The generated code leaves it to Go
// to find that it does not fit.
func (e *encoder) fill(pod *v1.Pod) (size int, fits bool, err error) {
	defer func() {
		switch failed := recover().(type) {
		case nil, runtime.Error:
		default:
			panic(failed)
		}
	}()
	size, err = pod.MarshalToSizedBuffer(e.buffer)
	return size, true, err
}
