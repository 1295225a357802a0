package answers

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Known is what is known about pods like one, on the nodes of its cycle. Any number of
// goroutines may use it.
type Known struct {
	*record
	// Again is set where there was a pod like this one before.
	Again bool

	kind   *naming.Kind[*record]
	fields *abi.Fields
	nodes  *nodes
}

// record has the answers about pods whose declared fields have the same values.
type record struct {
	numbers *numbering

	preFilter, preScore atomic.Pointer[abi.Out]
	filter, score       atomic.Pointer[[]atomic.Uint32] // by Node, two in each: indexes of the verdicts, from 1 on; 0 is unknown
	verdicts            atomic.Pointer[[]abi.Verdict]
	unanswered          atomic.Int32 // the Node, from 1 on, about which nothing is asked ahead; 0 is none

	mu      sync.Mutex // held by who writes verdicts, indexes, filter and score
	indexes map[verdictKey]uint16
}

// verdictKey is a verdict that can be compared.
type verdictKey struct {
	code, number int32
	reason       string
}

// What is remembered takes about so many bytes, beside texts that it alone has.
const (
	entryBytes   = 550 // before there are any answers
	answerBytes  = 200
	verdictBytes = 150
)

// Slot is where the answer to one question is kept: to PreFilter or PreScore about a pod, to Filter or Score about a pod and a
// node.
type Slot struct {
	known *Known
	hook  abi.Hook
	node  Node
}

// Slot finds where the answer of a hook is kept. info is nil for a hook about a pod.
func (k *Known) Slot(hook abi.Hook, info fwk.NodeInfo) Slot {
	if info == nil {
		return Slot{known: k, hook: hook}
	}
	return Slot{k, hook, k.number(info)}
}

// Get writes what was answered to out, if it is known. It is shared, and never changed.
func (s Slot) Get(out *abi.Out) (known bool) {
	if s.hook == abi.Filter || s.hook == abi.Score {
		out.Verdict, known = s.known.verdict(s.hook, s.node)
		return known
	}
	kept := s.known.ofPod(s.hook).Load()
	if kept != nil {
		*out = *kept
	}
	return kept != nil
}

// Put keeps an answer. What is there stays: the same question gets the same answer.
func (s Slot) Put(out *abi.Out) {
	k := s.known
	if s.hook == abi.Filter || s.hook == abi.Score {
		k.putVerdict(s.hook, s.node, out.Verdict)
		return
	}
	kept := &abi.Out{Verdict: out.Verdict, NodeNames: out.NodeNames}
	if !k.ofPod(s.hook).CompareAndSwap(nil, kept) {
		return
	}
	bytes := answerBytes + int64(len(out.Reason()))
	if out.NodeNames != nil {
		bytes += naming.SetBytes(len(out.NodeNames))
		for name := range out.NodeNames {
			bytes += int64(len(name))
		}
	}
	k.kind.Grew(bytes)
}

// GiveUp notes that there is no answer to be asked for ahead.
func (s Slot) GiveUp() { s.known.unanswered.Store(int32(s.node) + 1) }

func (r *record) ofPod(hook abi.Hook) *atomic.Pointer[abi.Out] {
	if hook == abi.PreScore {
		return &r.preScore
	}
	return &r.preFilter
}

func (r *record) ofNodes(hook abi.Hook) *atomic.Pointer[[]atomic.Uint32] {
	if hook == abi.Score {
		return &r.score
	}
	return &r.filter
}

// verdict is what Filter or Score has answered about a node.
func (r *record) verdict(hook abi.Hook, node Node) (v abi.Verdict, known bool) {
	indexes := r.ofNodes(hook).Load()
	if indexes == nil || int(node/2) >= len(*indexes) {
		return abi.Verdict{}, false
	}
	index := uint16((*indexes)[node/2].Load() >> (16 * (node % 2)))
	if index == 0 {
		return abi.Verdict{}, false
	}
	return (*r.verdicts.Load())[index-1], true
}

// putVerdict keeps what Filter or Score has answered about a node, unless there are too many
// different answers.
func (k *Known) putVerdict(hook abi.Hook, node Node, v abi.Verdict) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.verdict(hook, node); known {
		return
	}
	var grown int64
	indexes := k.ofNodes(hook).Load()
	if indexes == nil || int(node/2) >= len(*indexes) {
		more := make([]atomic.Uint32, (k.numbers.len()+1)/2)
		grown = 4 * int64(len(more))
		if indexes != nil {
			grown -= 4 * int64(len(*indexes))
			for i := range *indexes {
				more[i].Store((*indexes)[i].Load())
			}
		}
		indexes = &more
		k.ofNodes(hook).Store(indexes)
	}
	index, bytes := k.indexOf(v)
	(*indexes)[node/2].Or(uint32(index) << (16 * (node % 2)))
	if grown+bytes > 0 {
		k.kind.Grew(grown + bytes)
	}
}

// indexOf is a verdict's index, or 0 where there are too many. The record must be locked.
func (r *record) indexOf(v abi.Verdict) (index uint16, bytes int64) {
	key := verdictKey{v.Code, v.Number, v.Reason()}
	index, ok := r.indexes[key]
	if ok || len(r.indexes) == math.MaxUint16 {
		return index, 0
	}
	index = uint16(len(r.indexes) + 1)
	r.indexes[key] = index
	var verdicts []abi.Verdict
	before := r.verdicts.Load()
	if before != nil {
		verdicts = *before
	}
	verdicts = append(verdicts, v) // a reader of the list as it was does not see what is behind its end
	r.verdicts.Store(&verdicts)
	return index, int64(len(key.reason)) + verdictBytes
}

// Unknown are the nodes of the cycle about which Filter has no answer yet. There are none where one of the nodes
// was given up: it will not be known of all which pass.
func (k *Known) Unknown() iter.Seq2[*v1.Node, Slot] {
	return func(yield func(*v1.Node, Slot) bool) {
		givenUp := Node(k.unanswered.Load() - 1)
		if givenUp >= 0 && slices.Contains(k.nodes.numbers, givenUp) {
			if _, known := k.verdict(abi.Filter, givenUp); !known {
				return
			}
		}
		for i, node := range k.nodes.numbers {
			_, known := k.verdict(abi.Filter, node)
			if !known && !yield(k.nodes.list[i].Node(), Slot{k, abi.Filter, node}) {
				return
			}
		}
	}
}

// Passing says which nodes of the cycle pass Filter, where the answers about all of them are
// known. It is made once for each list.
func (k *Known) Passing() *naming.Named {
	before := k.kind.Named(k.nodes.version)
	if before != nil {
		return before
	}
	for _, node := range k.nodes.numbers {
		if _, known := k.verdict(abi.Filter, node); !known {
			return nil
		}
	}
	named := naming.Divide(k.nodes.list, func(i int) string {
		v, _ := k.verdict(abi.Filter, k.nodes.numbers[i])
		if v.Code == 0 {
			return ""
		}
		return cmp.Or(v.Reason(), "node(s) rejected without a reason")
	})
	k.kind.SetNamed(k.nodes.version, named)
	return named
}

// Nodes is how many nodes there are in the cycle.
func (k *Known) Nodes() int { return len(k.nodes.list) }
