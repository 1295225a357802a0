package wire

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

// An Answer is ready to be written. It shares memory with the request's body.
type Answer struct {
	pieces  [][]byte
	scratch *[]byte
	// Passed and Failed are how many nodes there are of each.
	Passed, Failed int
}

// Len is the length of the answer in bytes.
func (a *Answer) Len() int {
	n := 0
	for _, piece := range a.pieces {
		n += len(piece)
	}
	return n
}

// writers gather small pieces; large ones pass through them.
var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 64<<10) }}

// WriteTo writes the answer to w, in writes that are not too small.
func (a *Answer) WriteTo(w io.Writer) (int64, error) {
	if len(a.pieces) == 1 {
		n, err := w.Write(a.pieces[0])
		return int64(n), err
	}
	gather := writers.Get().(*bufio.Writer)
	gather.Reset(w)
	written := 0
	for _, piece := range a.pieces {
		n, err := gather.Write(piece)
		if written += n; err != nil {
			return int64(written), err
		}
	}
	err := gather.Flush()
	gather.Reset(nil)
	writers.Put(gather)
	return int64(written), err
}

// Release gives memory back for other answers. The answer is gone after it.
func (a *Answer) Release() {
	if a.scratch != nil && cap(*a.scratch) <= maxScratch {
		scratches.Put(a.scratch)
	}
	*a = Answer{}
}

// maxScratch keeps a rare huge answer from occupying memory for ever.
const maxScratch = 4 << 20

var scratches = sync.Pool{New: func() any { return new([]byte) }}

// newAnswer returns an answer with an empty buffer that is used again.
func newAnswer() (*Answer, []byte) {
	scratch := scratches.Get().(*[]byte)
	return &Answer{scratch: scratch}, (*scratch)[:0]
}

// Refusal is the answer to a filter request that says only why there is none.
// kube-scheduler shows the message with the pod.
func Refusal(message string) *Answer {
	a, b := newAnswer()
	b = append(b, `{"Nodes":null,"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":`...)
	b = appendString(b, message, false)
	a.seal(append(b, '}'))
	return a
}

// seal makes the buffer the last piece.
func (a *Answer) seal(buffer []byte) {
	*a.scratch = buffer
	a.pieces = append(a.pieces, buffer)
}

// Priorities is the answer to a prioritize request: a score for each node.
func (r *Request) Priorities(scores []int64) *Answer {
	a, b := newAnswer()
	b = slices.Grow(b, r.estimate(nil)+len(`{"Host":,"Score":10}`)*len(r.Names))
	b = append(b, '[')
	for i, name := range r.Names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"Host":`...)
		b = appendString(b, name, r.plain)
		b = append(b, `,"Score":`...)
		b = strconv.AppendInt(b, scores[i], 10)
		b = append(b, '}')
	}
	a.seal(append(b, ']'))
	a.Passed = len(r.Names)
	return a
}

// Filtered is the answer to a filter request: the nodes without a failure, in
// the form and order in which they came, and the reasons for the others. No
// failures at all stand for nil ones.
func (r *Request) Filtered(failures []*algorithm.Failure) *Answer {
	a, b := newAnswer()
	b = slices.Grow(b, r.estimate(failures))
	if r.Form == Full {
		a.pieces = append(a.pieces, []byte(`{"Nodes":`))
		a.nodes(r, failures)
		b = append(b, `,"NodeNames":null`...)
	} else {
		b = append(b, `{"Nodes":null,"NodeNames":`...)
		b = a.names(b, r, failures)
	}
	b = append(b, `,"FailedNodes":`...)
	b = r.failed(b, failures, false)
	b = append(b, `,"FailedAndUnresolvableNodes":`...)
	b = r.failed(b, failures, true)
	a.seal(append(b, `,"Error":""}`...))
	a.Failed = len(r.Names) - a.Passed
	return a
}
