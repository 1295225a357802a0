package wire

import (
	"bufio"
	"cmp"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// An Answer shares memory with its request.
type Answer struct {
	// Passed is the number of nodes that pass, or have a score.
	Passed int
	write  func(*bufio.Writer)
}

// partSize is the size of the parts in which an answer is written, in bytes.
const partSize = 16 << 10

// Send writes the answer to w in parts: it is never in memory as a whole.
func (a *Answer) Send(w io.Writer) error {
	gather := bufio.NewWriterSize(w, partSize) // which keeps the first error
	a.write(gather)
	return gather.Flush()
}

// Refusal is an answer to a filter request with only an error, which kube-scheduler reports
// with the pod.
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
		all := func(int) bool { return true }
		r.writeList(w, "[]", all, func(comma string, i int) {
			b := r.appendName(append(w.AvailableBuffer(), comma+`{"Host":`...), i)
			b = strconv.AppendInt(append(b, `,"Score":`...), scores[i], 10)
			_, _ = w.Write(append(b, '}'))
		})
	}}
}

// Filtered is the answer to a filter request: the nodes without a failure, in the form and
// order of the request, and the reasons of the others. A nil slice means no failures.
func (r *Request) Filtered(failures []*algorithm.Failure) *Answer {
	passes := func(i int) bool { return failures == nil || failures[i] == nil }
	return &Answer{Passed: r.count(passes), write: func(w *bufio.Writer) {
		if r.Form == Full {
			_, _ = w.WriteString(`{"Nodes":`)
			r.writeNodes(w, passes, failures == nil)
			_, _ = w.WriteString(`,"NodeNames":null`)
		} else {
			_, _ = w.WriteString(`{"Nodes":null,"NodeNames":`)
			r.writeList(w, "[]", passes, func(comma string, i int) {
				_, _ = w.Write(r.appendName(append(w.AvailableBuffer(), comma...), i))
			})
		}
		_, _ = w.WriteString(`,"FailedNodes":`)
		r.writeFailed(w, failures, false)
		_, _ = w.WriteString(`,"FailedAndUnresolvableNodes":`)
		r.writeFailed(w, failures, true)
		_, _ = w.WriteString(`,"Error":""}`)
	}}
}

// count counts the nodes that pass.
func (r *Request) count(passes func(i int) bool) (passed int) {
	for i := range r.Names {
		if passes(i) {
			passed++
		}
	}
	return passed
}

// Preempted is the answer to a preempt request: the victims of the nodes that have no failure,
// or one that preemption resolves. kube-scheduler takes no other node, also if there is none,
// and wants each node's victims.
func (r *Request) Preempted(failures []*algorithm.Failure) *Answer {
	passes := func(i int) bool { return failures == nil || failures[i] == nil || !failures[i].Unresolvable }
	return &Answer{Passed: r.count(passes), write: func(w *bufio.Writer) {
		_, _ = w.WriteString(`{"NodeNameToMetaVictims":`)
		r.writeList(w, "{}", passes, func(comma string, i int) {
			b := r.appendName(append(w.AvailableBuffer(), comma...), i)
			_, _ = w.Write(append(b, ':'))
			writeVictims(w, r.victims[r.Names[i]])
		})
		_ = w.WriteByte('}')
	}}
}

func writeVictims(w *bufio.Writer, v victims) {
	_, _ = w.WriteString(`{"Pods":[`)
	comma := ""
	for _, pod := range v.Pods {
		_, _ = w.WriteString(comma + `{"UID":`)
		writeString(w, cmp.Or(pod.UID, pod.Metadata.UID))
		_ = w.WriteByte('}')
		comma = ","
	}
	_, _ = w.WriteString(`],"NumPDBViolations":`)
	_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), v.NumPDBViolations, 10))
	_ = w.WriteByte('}')
}

// writeNodes writes the NodeList as in the request, without the nodes that failed.
func (r *Request) writeNodes(w *bufio.Writer, passes func(int) bool, all bool) {
	if all || r.items == (span{}) {
		_, _ = w.Write(r.bytes(r.list))
		return
	}
	_, _ = w.Write(r.bytes(span{r.list.start, r.items.start}))
	r.writeList(w, "[]", passes, func(comma string, i int) {
		_, _ = w.WriteString(comma)
		_, _ = w.Write(r.bytes(r.nodes[i].at))
	})
	_, _ = w.Write(r.bytes(span{r.items.end, r.list.end}))
}

// writeFailed writes the map from node to reason of one kind of failures.
func (r *Request) writeFailed(w *bufio.Writer, failures []*algorithm.Failure, unresolvable bool) {
	failed := func(i int) bool {
		return failures != nil && failures[i] != nil && failures[i].Unresolvable == unresolvable
	}
	var last *algorithm.Failure
	var reason []byte // of the last one, after a colon
	r.writeList(w, "{}", failed, func(comma string, i int) {
		if failures[i] != last { // most have the same
			last = failures[i]
			reason, _ = jsontext.AppendQuote(append(reason[:0], ':'), last.Reason)
		}
		b := r.appendName(append(w.AvailableBuffer(), comma...), i)
		_, _ = w.Write(append(b, reason...))
	})
}

// writeList calls write for each wanted node, with the comma before it.
func (r *Request) writeList(w *bufio.Writer, brackets string, wanted func(i int) bool, write func(comma string, i int)) {
	_ = w.WriteByte(brackets[0])
	comma := ""
	for i := range r.Names {
		if wanted(i) {
			write(comma, i)
			comma = ","
		}
	}
	_ = w.WriteByte(brackets[1])
}

func (r *Request) appendName(to []byte, i int) []byte {
	if r.arePlain {
		return append(append(append(to, '"'), r.Names[i]...), '"')
	}
	to, _ = jsontext.AppendQuote(to, r.Names[i]) // invalid UTF-8 is replaced
	return to
}

func writeString(w *bufio.Writer, s string) {
	quoted, _ := jsontext.AppendQuote(w.AvailableBuffer(), s) // invalid UTF-8 is replaced
	_, _ = w.Write(quoted)
}
