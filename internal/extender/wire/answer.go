package wire

import (
	"bufio"
	"io"
	"strconv"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

// An Answer is ready to be sent. It shares memory with its request.
type Answer struct {
	write func(*bufio.Writer)
	// Passed and Failed are how many nodes there are of each.
	Passed, Failed int
}

// writers gather small pieces; large ones pass through them.
var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 64<<10) }}

// Send writes the answer to w, in writes that are not too small. It is never
// in memory as a whole.
func (a *Answer) Send(w io.Writer) error {
	gather := writers.Get().(*bufio.Writer)
	gather.Reset(w)
	a.write(gather)
	err := gather.Flush()
	gather.Reset(nil)
	writers.Put(gather)
	return err
}

// Refusal is the answer to a filter request that says only why there is none.
// kube-scheduler shows the message with the pod.
func Refusal(message string) *Answer {
	return &Answer{write: func(w *bufio.Writer) {
		_, _ = w.WriteString(`{"Nodes":null,"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":`)
		writeString(w, message, false)
		_ = w.WriteByte('}')
	}}
}

// Priorities is the answer to a prioritize request: a score for each node.
func (r *Request) Priorities(scores []int64) *Answer {
	return &Answer{Passed: len(r.Names), write: func(w *bufio.Writer) {
		_ = w.WriteByte('[')
		for i, name := range r.Names {
			if i > 0 {
				_ = w.WriteByte(',')
			}
			_, _ = w.WriteString(`{"Host":`)
			writeString(w, name, r.plain)
			_, _ = w.WriteString(`,"Score":`)
			_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), scores[i], 10))
			_ = w.WriteByte('}')
		}
		_ = w.WriteByte(']')
	}}
}

// Filtered is the answer to a filter request: the nodes without a failure, in
// the form and order in which they came, and the reasons for the others. No
// failures at all stand for nil ones.
func (r *Request) Filtered(failures []*algorithm.Failure) *Answer {
	a := &Answer{Passed: len(r.Names)}
	for _, failure := range failures {
		if failure != nil {
			a.Failed++
			a.Passed--
		}
	}
	a.write = func(w *bufio.Writer) {
		if r.Form == Full {
			_, _ = w.WriteString(`{"Nodes":`)
			r.writeNodes(w, failures)
			_, _ = w.WriteString(`,"NodeNames":null`)
		} else {
			_, _ = w.WriteString(`{"Nodes":null,"NodeNames":`)
			r.writeNames(w, failures)
		}
		_, _ = w.WriteString(`,"FailedNodes":`)
		r.writeFailed(w, failures, false)
		_, _ = w.WriteString(`,"FailedAndUnresolvableNodes":`)
		r.writeFailed(w, failures, true)
		_, _ = w.WriteString(`,"Error":""}`)
	}
	return a
}

func writeString(w *bufio.Writer, s string, plain bool) {
	_, _ = w.Write(appendString(w.AvailableBuffer(), s, plain))
}
