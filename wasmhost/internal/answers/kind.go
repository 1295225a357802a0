package answers

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"

	guestabi "wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Kind has the answers about pods of one kind, whose declared fields have the same values, and about the nodes of a cycle. Any number of
// goroutines may use it.
type Kind struct {
	*record
	// Again is set where there was a pod of this kind before.
	Again bool

	kind       *naming.Kind[*record]
	fields     *abi.Fields
	countsPods bool // a node's fields change with the pods on it
	nodes      *nodes
}

// record has the answers about pods of a kind, and about all nodes.
type record struct {
	numbers *numbering

	preFilter, preScore atomic.Pointer[abi.Out]
	filter, score       atomic.Pointer[[]atomic.Uint32] // by Node, two in each: indexes of the verdicts, from 1 on; 0 is none
	verdicts            atomic.Pointer[[]abi.Verdict]
	givenUp             atomic.Int32 // the Node, from 1 on, that was given up last; 0 is none

	mu      sync.Mutex // held by who writes verdicts, indexes, filter and score
	indexes map[verdictKey]uint16
	reasons int // bytes of the reasons in them
}

// verdictKey is a verdict that can be compared.
type verdictKey struct {
	code, number int32
	reason       string
}

// The bytes that answers take, about, beside texts that they alone have.
const (
	entryBytes   = 550 // before there are any answers
	answerBytes  = 200
	verdictBytes = 150
)

// Answer is the answer to one question: of PreFilter or PreScore about a pod, of Filter or Score about a pod and a node.
type Answer struct {
	kind *Kind
	hook abi.Hook
	node Node
}

// Answer is the answer of a hook, remembered or not. info is nil for a hook about a pod.
func (k *Kind) Answer(hook abi.Hook, info fwk.NodeInfo) Answer {
	if info == nil {
		return Answer{kind: k, hook: hook}
	}
	return Answer{k, hook, k.number(info)}
}

// Get writes the answer to out, if it is remembered. What it writes is shared, and never changed.
func (a Answer) Get(out *abi.Out) (ok bool) {
	if a.hook == abi.Filter || a.hook == abi.Score {
		out.Verdict, ok = a.kind.verdict(a.hook, a.node)
		return ok
	}
	remembered := a.kind.ofPod(a.hook).Load()
	if remembered != nil {
		*out = *remembered
	}
	return remembered != nil
}

// Put remembers the answer, and reports false where there is no room for it. One that is remembered stays: the same question gets the
// same answer.
func (a Answer) Put(out *abi.Out) bool {
	k := a.kind
	if a.node == unnumbered {
		return true
	}
	if a.hook == abi.Filter || a.hook == abi.Score {
		return k.putVerdict(a.hook, a.node, out.Verdict)
	}
	remembered := &abi.Out{Verdict: out.Verdict, NodeNames: out.NodeNames}
	if !k.ofPod(a.hook).CompareAndSwap(nil, remembered) {
		return true
	}
	bytes := answerBytes + int64(len(out.Reason()))
	if out.NodeNames != nil {
		bytes += naming.SetBytes(len(out.NodeNames))
		for name := range out.NodeNames {
			bytes += int64(len(name))
		}
	}
	k.kind.Grew(bytes)
	return true
}

// GiveUp notes that the guest gives no answer that can be remembered: it is asked ahead no more.
func (a Answer) GiveUp() { a.kind.givenUp.Store(int32(a.node) + 1) }

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
func (r *record) verdict(hook abi.Hook, node Node) (v abi.Verdict, ok bool) {
	indexes := r.ofNodes(hook).Load()
	if indexes == nil || node == unnumbered || int(node/2) >= len(*indexes) {
		return abi.Verdict{}, false
	}
	index := uint16((*indexes)[node/2].Load() >> (16 * (node % 2)))
	if index == 0 {
		return abi.Verdict{}, false
	}
	return (*r.verdicts.Load())[index-1], true
}

// putVerdict remembers what Filter or Score has answered about a node. It reports false where there are too many
// different answers.
func (k *Kind) putVerdict(hook abi.Hook, node Node, v abi.Verdict) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.verdict(hook, node); ok {
		return true
	}
	var grown int64
	indexes := k.ofNodes(hook).Load()
	if indexes == nil || int(node/2) >= len(*indexes) {
		numbers, _ := k.numbers.size()
		if k.countsPods {
			numbers += numbers / 4 // there is one more after each placement
		}
		more := make([]atomic.Uint32, (numbers+1)/2)
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
	return index != 0
}

// indexOf is a verdict's index, or 0 where there are too many. The record must be locked. Beyond [guestabi.MaxReasons]
// the verdict has [abi.OutOfReasons] for a reason. In each attempt the guest may hand over as much, but a pod's status has all that is remembered.
func (r *record) indexOf(v abi.Verdict) (index uint16, bytes int64) {
	key := verdictKey{v.Code, v.Number, v.Reason()}
	_, ok := r.indexes[key]
	if !ok && r.reasons+len(key.reason) > guestabi.MaxReasons {
		key.reason = abi.OutOfReasons
		v.Reasons = []string{abi.OutOfReasons}
	}
	index, ok = r.indexes[key]
	if ok || len(r.indexes) == math.MaxUint16 {
		return index, 0
	}
	r.reasons += len(key.reason)
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

// Missing are the answers of Filter about nodes of the cycle that are not remembered. There are none where one of them
// was given up: it will not be known of all nodes whether they pass.
func (k *Kind) Missing() iter.Seq2[fwk.NodeInfo, Answer] {
	return func(yield func(fwk.NodeInfo, Answer) bool) {
		givenUp := Node(k.givenUp.Load() - 1)
		if givenUp >= 0 && slices.Contains(k.nodes.numbers, givenUp) {
			if _, ok := k.verdict(abi.Filter, givenUp); !ok {
				return
			}
		}
		for i, node := range k.nodes.numbers {
			_, ok := k.verdict(abi.Filter, node)
			if !ok && !yield(k.nodes.list[i], Answer{k, abi.Filter, node}) {
				return
			}
		}
	}
}

// Passing says which nodes of the cycle pass Filter, or nil where an answer about one of them is missing. It is made once for each list.
// It is not for a guest that decides by pods on nodes, and neither is Missing.
func (k *Kind) Passing() *naming.Named {
	before := k.kind.Named(k.nodes.version)
	if before != nil {
		return before
	}
	for _, node := range k.nodes.numbers {
		if _, ok := k.verdict(abi.Filter, node); !ok {
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
func (k *Kind) Nodes() int { return len(k.nodes.list) }
