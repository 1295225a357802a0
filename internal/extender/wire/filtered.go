package wire

import "wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"

// estimate is about how many bytes of an answer are not the body's as they are:
// names and reasons.
func (r *Request) estimate(failures []*algorithm.Failure) int {
	n := 256 + r.nameBytes + len(`"":"",`)*len(r.Names)
	for _, failure := range failures {
		if failure != nil {
			n += len(failure.Reason) + len(`\"`)
		}
	}
	return n
}

// nodes adds the NodeList as it came, less the nodes that failed. Nodes that
// stand side by side are one piece with the commas between them.
func (a *Answer) nodes(r *Request, failures []*algorithm.Failure) {
	items, nodes := r.items, r.memory.nodes
	if failures == nil || items == (span{}) {
		a.Passed = len(nodes)
		a.pieces = append(a.pieces, r.bytes(r.envelope))
		return
	}
	a.pieces = append(a.pieces, r.bytes(span{r.envelope.start, items.start}), []byte("["))
	for i := 0; i < len(nodes); i++ {
		if failures[i] != nil {
			continue
		}
		if a.Passed > 0 {
			a.pieces = append(a.pieces, []byte(","))
		}
		run := nodes[i]
		for a.Passed++; i+1 < len(nodes) && failures[i+1] == nil; a.Passed++ {
			i++
			run.end = nodes[i].end
		}
		a.pieces = append(a.pieces, r.bytes(run))
	}
	a.pieces = append(a.pieces, []byte("]"), r.bytes(span{items.end, r.envelope.end}))
}

// names appends the list of the names that passed.
func (a *Answer) names(b []byte, r *Request, failures []*algorithm.Failure) []byte {
	b = append(b, '[')
	for i := 0; i < len(r.Names); i++ {
		if failures != nil && failures[i] != nil {
			continue
		}
		first := i
		for r.quoted && i+1 < len(r.Names) && (failures == nil || failures[i+1] == nil) {
			i++
		}
		if a.Passed > 0 {
			b = append(b, ',')
		}
		b = r.appendNames(b, first, i)
		a.Passed += i + 1 - first
	}
	return append(b, ']')
}

// appendNames appends the names from first to last as JSON, with commas between
// them. If they are not quoted as they stand in the body, there is only one.
func (r *Request) appendNames(b []byte, first, last int) []byte {
	if r.quoted {
		return append(b, r.body[r.memory.offsets[2*first]-1:r.memory.offsets[2*last+1]+1]...)
	}
	return appendString(b, r.Names[first], r.plain)
}

// failed appends the map from node to reason of either kind. A name that
// repeats is in it once, with the reason that came first.
func (r *Request) failed(b []byte, failures []*algorithm.Failure, unresolvable bool) []byte {
	b = append(b, '{')
	start := len(b)
	var last *algorithm.Failure
	var reason []byte // of last, encoded, between a colon and a comma
	seen := newSet(len(failures))
	defer seen.release()
	for i, failure := range failures {
		if failure == nil || failure.Unresolvable != unresolvable || !seen.add(r.Names, i) {
			continue
		}
		if failure != last {
			last, reason = failure, append(appendString([]byte{':'}, failure.Reason, false), ',')
		}
		b = append(r.appendNames(b, i, i), reason...)
	}
	if len(b) > start {
		b = b[:len(b)-1] // the last comma
	}
	return append(b, '}')
}
