package wire

import (
	"bufio"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// An Answer is ready to be sent. It shares memory with its request.
type Answer struct {
	// Passed is how many nodes pass, or have a score.
	Passed int
	write  func(*bufio.Writer)
}

// Send writes the answer to w, in writes that are not too small. It is never
// in memory as a whole.
func (a *Answer) Send(w io.Writer) error {
	gather := bufio.NewWriterSize(w, 16<<10) // which keeps the first error
	a.write(gather)
	return gather.Flush()
}

// Refusal is the answer to a filter request that says only why there is none.
// kube-scheduler shows the message with the pod.
func Refusal(message string) *Answer {
	return &Answer{write: func(w *bufio.Writer) {
		_, _ = w.WriteString(`{"Nodes":null,"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":`)
		writeString(w, message)
		_ = w.WriteByte('}')
	}}
}

// Priorities is the answer to a prioritize request: a score for each node.
func (r *Request) Priorities(scores []int64) *Answer {
	return &Answer{Passed: len(r.Names), write: func(w *bufio.Writer) {
		comma := ""
		_ = w.WriteByte('[')
		for i, name := range r.Names {
			_, _ = w.WriteString(comma)
			_, _ = w.WriteString(`{"Host":`)
			writeString(w, name)
			_, _ = w.WriteString(`,"Score":`)
			_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), scores[i], 10))
			_ = w.WriteByte('}')
			comma = ","
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

// writeNodes writes the NodeList as it came, less the nodes that failed.
func (r *Request) writeNodes(w *bufio.Writer, failures []*algorithm.Failure) {
	if failures == nil || r.items == (span{}) {
		_, _ = w.Write(r.bytes(r.list))
		return
	}
	_, _ = w.Write(r.bytes(span{r.list.start, r.items.start}))
	comma := ""
	_ = w.WriteByte('[')
	for i, node := range r.nodes {
		if failures[i] == nil {
			_, _ = w.WriteString(comma)
			_, _ = w.Write(r.bytes(node))
			comma = ","
		}
	}
	_ = w.WriteByte(']')
	_, _ = w.Write(r.bytes(span{r.items.end, r.list.end}))
}

// writeNames writes the list of the names that passed.
func (r *Request) writeNames(w *bufio.Writer, failures []*algorithm.Failure) {
	comma := ""
	_ = w.WriteByte('[')
	for i, name := range r.Names {
		if failures == nil || failures[i] == nil {
			_, _ = w.WriteString(comma)
			writeString(w, name)
			comma = ","
		}
	}
	_ = w.WriteByte(']')
}

// writeFailed writes the map from node to reason of either kind. A name that
// repeats is in it once, with the reason that came first.
func (r *Request) writeFailed(w *bufio.Writer, failures []*algorithm.Failure, unresolvable bool) {
	comma := ""
	_ = w.WriteByte('{')
	var seen map[string]struct{}
	var last *algorithm.Failure
	var reason []byte // of last
	for i, failure := range failures {
		if failure == nil || failure.Unresolvable != unresolvable {
			continue
		}
		if seen == nil {
			seen = make(map[string]struct{}, len(failures)-i)
		}
		if _, repeats := seen[r.Names[i]]; repeats {
			continue
		}
		seen[r.Names[i]] = struct{}{}
		_, _ = w.WriteString(comma)
		writeString(w, r.Names[i])
		if failure != last {
			last, reason = failure, []byte{':'}
			reason, _ = jsontext.AppendQuote(reason, failure.Reason)
		}
		_, _ = w.Write(reason)
		comma = ","
	}
	_ = w.WriteByte('}')
}

func writeString(w *bufio.Writer, s string) {
	quoted, _ := jsontext.AppendQuote(w.AvailableBuffer(), s) // invalid UTF-8 is replaced
	_, _ = w.Write(quoted)
}
