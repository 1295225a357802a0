package wire

import (
	"bufio"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

// writeNodes writes the NodeList as it came, less the nodes that failed. Nodes
// that stand side by side are one piece with the commas between them.
func (r *Request) writeNodes(w *bufio.Writer, failures []*algorithm.Failure) {
	items, nodes := r.items, r.memory.nodes
	if failures == nil || items == (span{}) {
		_, _ = w.Write(r.bytes(r.envelope))
		return
	}
	_, _ = w.Write(r.bytes(span{r.envelope.start, items.start}))
	_ = w.WriteByte('[')
	for i, passed := 0, 0; i < len(nodes); i++ {
		if failures[i] != nil {
			continue
		}
		if passed++; passed > 1 {
			_ = w.WriteByte(',')
		}
		run := nodes[i]
		for i+1 < len(nodes) && failures[i+1] == nil {
			i++
			run.end = nodes[i].end
		}
		_, _ = w.Write(r.bytes(run))
	}
	_ = w.WriteByte(']')
	_, _ = w.Write(r.bytes(span{items.end, r.envelope.end}))
}

// writeNames writes the list of the names that passed.
func (r *Request) writeNames(w *bufio.Writer, failures []*algorithm.Failure) {
	comma := byte('[')
	for i, name := range r.Names {
		if failures == nil || failures[i] == nil {
			_ = w.WriteByte(comma)
			writeString(w, name, r.plain)
			comma = ','
		}
	}
	if comma == '[' {
		_ = w.WriteByte('[')
	}
	_ = w.WriteByte(']')
}

// writeFailed writes the map from node to reason of either kind. A name that
// repeats is in it once, with the reason that came first.
func (r *Request) writeFailed(w *bufio.Writer, failures []*algorithm.Failure, unresolvable bool) {
	_ = w.WriteByte('{')
	var last *algorithm.Failure
	var reason []byte // of last, encoded, behind a colon
	var seen *set
	for i, failure := range failures {
		if failure == nil || failure.Unresolvable != unresolvable {
			continue
		}
		if seen == nil {
			seen = newSet(len(failures))
			defer seen.release()
		}
		if !seen.add(r.Names, i) {
			continue
		}
		if last != nil {
			_ = w.WriteByte(',')
		}
		if failure != last {
			last, reason = failure, appendString([]byte{':'}, failure.Reason, false)
		}
		writeString(w, r.Names[i], r.plain)
		_, _ = w.Write(reason)
	}
	_ = w.WriteByte('}')
}
