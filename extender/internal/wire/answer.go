package wire

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

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
	return whole(0, extenderv1.ExtenderFilterResult{Error: message})
}

// whole is an answer that is made at once.
func whole(passed int, result any) *Answer {
	return &Answer{Passed: passed, write: func(w *bufio.Writer) { _ = json.NewEncoder(w).Encode(result) }}
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
	passed := 0
	for i := range r.Names {
		if passes(i) {
			passed++
		}
	}
	return &Answer{Passed: passed, write: func(w *bufio.Writer) {
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

// Preempted is the answer to a preempt request: the victims of the nodes that have no failure,
// or one that preemption resolves. kube-scheduler takes no other node, also if there is none,
// and wants each node's victims.
func (r *Request) Preempted(failures []*algorithm.Failure) *Answer {
	result := extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{}}
	for i, name := range r.Names {
		if failures != nil && failures[i] != nil && failures[i].Unresolvable {
			continue
		}
		of := &extenderv1.MetaVictims{Pods: []*extenderv1.MetaPod{}, NumPDBViolations: r.victims[name].NumPDBViolations}
		for _, pod := range r.victims[name].Pods {
			of.Pods = append(of.Pods, &extenderv1.MetaPod{UID: cmp.Or(pod.UID, pod.Metadata.UID)})
		}
		result.NodeNameToMetaVictims[name] = of
	}
	return whole(len(result.NodeNameToMetaVictims), result)
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
