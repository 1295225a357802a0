package memory

import (
	"cmp"
	"math"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
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
	*answers
	// Again is set where there was a pod like this one before.
	Again bool

	kind   *naming.Kind[*answers]
	fields *abi.Fields
	nodes  *nodes
}

// answers are the guest's about pods whose declared fields have the same values.
type answers struct {
	numbers *numbering

	preFilter, preScore atomic.Pointer[Answer]
	filter, score       atomic.Pointer[[]atomic.Uint32] // by Node, two in each: places in the verdicts, from 1 on; 0 is unknown
	verdicts            atomic.Pointer[[]abi.Verdict]
	unanswered          atomic.Int32 // the Node, from 1 on, about which nothing is asked ahead; 0 is none

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
	entryBytes   = 550 // before there are any answers
	answerBytes  = 200
	verdictBytes = 150
)

func (a *answers) answer(hook abi.Hook) *atomic.Pointer[Answer] {
	if hook == abi.PreScore {
		return &a.preScore
	}
	return &a.preFilter
}

// Answer is what PreFilter or PreScore has answered, or nil.
func (a *answers) Answer(hook abi.Hook) *Answer { return a.answer(hook).Load() }

// PutAnswer keeps what PreFilter or PreScore has answered.
func (a *About) PutAnswer(hook abi.Hook, answer *Answer) {
	if !a.answer(hook).CompareAndSwap(nil, answer) {
		return
	}
	bytes := answerBytes + int64(len(answer.Reason()))
	if answer.Result != nil {
		bytes += naming.SetBytes(len(answer.Result.NodeNames))
		for name := range answer.Result.NodeNames {
			bytes += int64(len(name))
		}
	}
	a.kind.Grew(bytes)
}

func (a *answers) of(hook abi.Hook) *atomic.Pointer[[]atomic.Uint32] {
	if hook == abi.Score {
		return &a.score
	}
	return &a.filter
}

// Get is what Filter or Score has answered about a node.
func (a *answers) Get(hook abi.Hook, node Node) (v abi.Verdict, known bool) {
	places := a.of(hook).Load()
	if places == nil || int(node/2) >= len(*places) {
		return abi.Verdict{}, false
	}
	place := uint16((*places)[node/2].Load() >> (16 * (node % 2)))
	if place == 0 {
		return abi.Verdict{}, false
	}
	return (*a.verdicts.Load())[place-1], true
}

// Put keeps what Filter or Score has answered about a node, unless there are too many
// different answers. What is there stays: who asks the same gets the same answer.
func (a *About) Put(hook abi.Hook, node Node, v abi.Verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.Get(hook, node); known {
		return
	}
	var grown int64
	places := a.of(hook).Load()
	if places == nil || int(node/2) >= len(*places) {
		more := make([]atomic.Uint32, (a.numbers.len()+1)/2)
		grown = 4 * int64(len(more))
		if places != nil {
			grown -= 4 * int64(len(*places))
			for i := range *places {
				more[i].Store((*places)[i].Load())
			}
		}
		places = &more
		a.of(hook).Store(places)
	}
	place, bytes := a.place(v)
	(*places)[node/2].Or(uint32(place) << (16 * (node % 2)))
	if grown+bytes > 0 {
		a.kind.Grew(grown + bytes)
	}
}

// place is a verdict's place, or 0 where there are too many. The answers must be locked.
func (a *answers) place(v abi.Verdict) (place uint16, bytes int64) {
	key := keyOf(v)
	place, ok := a.places[key]
	if ok || len(a.places) == math.MaxUint16 {
		return place, 0
	}
	place = uint16(len(a.places) + 1)
	a.places[key] = place
	var verdicts []abi.Verdict
	known := a.verdicts.Load()
	if known != nil {
		verdicts = *known
	}
	verdicts = append(verdicts, v) // who reads the list as it was does not see what is behind its end
	a.verdicts.Store(&verdicts)
	return place, int64(len(key.reason)) + verdictBytes
}

// GiveUp notes a node about which there was no answer when it was asked ahead.
func (a *answers) GiveUp(node Node) { a.unanswered.Store(int32(node) + 1) }

// Unknown finds the nodes of the cycle about which Filter has no answer yet: a place in the
// list for each Node. It finds none where one of the nodes was given up: it will not be known
// of all which pass.
func (a *About) Unknown() (places []int) {
	seen := map[Node]bool{}
	for place, node := range a.nodes.numbers {
		_, known := a.Get(abi.Filter, node)
		if known || seen[node] {
			continue
		}
		if int32(node)+1 == a.unanswered.Load() {
			return nil
		}
		seen[node] = true
		places = append(places, place)
	}
	return places
}

// Passing says which nodes of the cycle pass Filter, where the answers about all of them are
// known. It is made once for each list.
func (a *About) Passing() *naming.Named {
	before := a.kind.Named(a.nodes.version)
	if before != nil {
		return before
	}
	for _, node := range a.nodes.numbers {
		if _, known := a.Get(abi.Filter, node); !known {
			return nil
		}
	}
	named := naming.Divide(a.nodes.list, func(place int) string {
		v, _ := a.Get(abi.Filter, a.nodes.numbers[place])
		if v.Code == 0 {
			return ""
		}
		return cmp.Or(v.Reason(), "node(s) rejected without a reason")
	})
	a.kind.SetNamed(a.nodes.version, named)
	return named
}

// Len is how many nodes there are in the cycle.
func (a *About) Len() int { return len(a.nodes.list) }

// At is the node at a place of the list.
func (a *About) At(place int) (*v1.Node, Node) {
	return a.nodes.list[place].Node(), a.nodes.numbers[place]
}
