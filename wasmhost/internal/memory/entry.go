package memory

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Answer is what PreFilter or PreScore answered, with the nodes that it named.
type Answer struct {
	abi.Verdict
	Result *fwk.PreFilterResult
}

// About is what is known about pods like one, on the nodes of its cycle. Any number of
// goroutines may use it.
type About struct {
	*entry
	nodes *nodes
}

// entry are the answers about pods whose declared fields have the same values.
type entry struct {
	cache   *Cache
	key     string
	numbers *numbering
	bytes   int64 // as the cache has counted them, with which these two are locked
	dropped bool

	preFilter, preScore atomic.Pointer[Answer]
	filter, score       atomic.Pointer[[]uint16] // by Node: places in the verdicts, from 1 on; 0 is unknown
	verdicts            atomic.Pointer[[]abi.Verdict]
	passing             atomic.Pointer[passing]

	mu     sync.Mutex // held by who writes verdicts, places, filter and score
	places map[verdictKey]uint16
}

// verdictKey is a verdict that can be compared.
type verdictKey struct {
	code, number int32
	reason       string
}

func keyOf(v abi.Verdict) verdictKey { return verdictKey{v.Code, v.Number, v.Reason()} }

// What is remembered takes about so many bytes, beside texts that it alone has.
const (
	entryBytes   = 450 // before there are any answers
	answerBytes  = 200
	verdictBytes = 150
	// A name in a set, what Go adds for the value that has no size, a byte of control,
	// and what the allocator rounds up.
	slotBytes = 16 + 8 + 1 + 2
)

// setBytes is about what a set of so many names takes beside their text: Go's maps
// have a power of two of slots, at most 7/8 of which are taken.
func setBytes(names int) int64 { return slotBytes << bits.Len(uint(names*8/7)) }

func (e *entry) answer(hook abi.Hook) *atomic.Pointer[Answer] {
	if hook == abi.PreScore {
		return &e.preScore
	}
	return &e.preFilter
}

// Answer is what PreFilter or PreScore has answered, or nil.
func (e *entry) Answer(hook abi.Hook) *Answer { return e.answer(hook).Load() }

// PutAnswer keeps what PreFilter or PreScore has answered.
func (e *entry) PutAnswer(hook abi.Hook, a *Answer) {
	if !e.answer(hook).CompareAndSwap(nil, a) {
		return
	}
	bytes := answerBytes + int64(len(a.Reason()))
	if a.Result != nil {
		bytes += setBytes(len(a.Result.NodeNames))
		for name := range a.Result.NodeNames {
			bytes += int64(len(name))
		}
	}
	e.cache.grew(e, bytes)
}

func (e *entry) of(hook abi.Hook) *atomic.Pointer[[]uint16] {
	if hook == abi.Score {
		return &e.score
	}
	return &e.filter
}

// Get is what Filter or Score has answered about a node.
func (e *entry) Get(hook abi.Hook, node Node) (v abi.Verdict, known bool) {
	places := e.of(hook).Load()
	if places == nil || int(node) >= len(*places) || (*places)[node] == 0 {
		return abi.Verdict{}, false
	}
	return (*e.verdicts.Load())[(*places)[node]-1], true
}

// Put keeps what Filter or Score has answered about nodes, unless there are too many
// different answers. What is there stays: who asks the same gets the same answer.
func (e *entry) Put(hook abi.Hook, verdicts map[Node]abi.Verdict) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.of(hook)
	var before []uint16
	known := all.Load()
	if known != nil {
		before = *known
	}
	after := make([]uint16, max(len(before), e.numbers.len()))
	copy(after, before)
	grown := 2 * int64(len(after)-len(before))
	for node, v := range verdicts {
		if after[node] == 0 {
			place, bytes := e.place(v)
			after[node] = place
			grown += bytes
		}
	}
	all.Store(&after)
	if grown > 0 {
		e.cache.grew(e, grown)
	}
}

// place is a verdict's place, or 0 where there are too many. The entry must be locked.
func (e *entry) place(v abi.Verdict) (place uint16, bytes int64) {
	key := keyOf(v)
	place, ok := e.places[key]
	if ok || len(e.places) == math.MaxUint16 {
		return place, 0
	}
	place = uint16(len(e.places) + 1)
	e.places[key] = place
	var verdicts []abi.Verdict
	known := e.verdicts.Load()
	if known != nil {
		verdicts = *known
	}
	verdicts = append(verdicts, v) // who reads the list as it was does not see what is behind its end
	e.verdicts.Store(&verdicts)
	return place, int64(len(key.reason)) + verdictBytes
}

// Unknown finds the nodes of the cycle about which Filter has no answer yet: a place in the
// list for each Node.
func (a *About) Unknown() (places []int) {
	seen := map[Node]bool{}
	for place, node := range a.nodes.numbers {
		_, known := a.Get(abi.Filter, node)
		if !known && !seen[node] {
			seen[node] = true
			places = append(places, place)
		}
	}
	return places
}

// passing says which nodes of a list pass Filter.
type passing struct {
	nodes *nodes
	naming.Named
}

// Passing says which nodes of the cycle pass Filter, where the answers about all of them are
// known. It is made once for each list.
func (a *About) Passing() *naming.Named {
	before := a.passing.Load()
	if before != nil && before.nodes == a.nodes {
		return &before.Named
	}
	if slices.ContainsFunc(a.nodes.numbers, func(n Node) bool { _, known := a.Get(abi.Filter, n); return !known }) {
		return nil
	}
	p := &passing{a.nodes, *naming.Divide(a.nodes.list, func(place int) string {
		v, _ := a.Get(abi.Filter, a.nodes.numbers[place])
		if v.Code == 0 {
			return ""
		}
		return cmp.Or(v.Reason(), "node(s) rejected without a reason")
	})}
	a.passing.Store(p)
	a.cache.grew(a.entry, p.bytes()-before.bytes())
	return &p.Named
}

// bytes is about what the words and the set take. The text of the names is the nodes'.
func (p *passing) bytes() int64 {
	switch {
	case p == nil:
		return 0
	case p.Result == nil:
		return int64(len(p.Rejected))
	}
	return int64(len(p.Rejected)) + setBytes(len(p.Result.NodeNames))
}
