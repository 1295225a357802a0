package wasmhost

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/memory"
)

// The scheduler asks for hints with its queue locked, once for each pending pod. Where the
// guest has to be asked, that is bounded, for all pods together.
const (
	// hintTime is how long hints wait for the guest, at most, in any second. The guest is
	// asked about further pods while the queue goes on.
	hintTime = 50 * time.Millisecond
	// patience is how long such a pod stays pending without an answer. Then it is woken.
	patience = 10 * time.Second
	// maxQuestions is how many such pods there may be. Others are woken at once.
	maxQuestions = 1 << 16
	// afterFailure is how long nothing is asked after a call has failed: all are woken.
	afterFailure = 10 * time.Second
)

// question is whether a guest lets a pod run on a node.
type question struct {
	pod   *v1.Pod
	node  *v1.Node
	since time.Time
}

// hints are the questions that events raise.
type hints struct {
	plugin *plugin

	mu        sync.Mutex
	busyUntil time.Time // if no more than hintTime were allowed in each second
	later     []question
	answering bool // a goroutine answers them

	failed atomic.Int64 // when a call has failed, in ns
}

// helps reports whether a node may help a pod, as far as its hint can say: a pod for which
// the time is too short is not woken before the guest has answered.
func (h *hints) helps(pod *v1.Pod, node *v1.Node) bool {
	known := h.plugin.answers.About(pod, nil)
	if known != nil {
		if rejected, ok := h.rejection(known, node); ok {
			return !rejected
		}
	}
	h.mu.Lock()
	now := time.Now()
	inTime := !h.busyUntil.After(now.Add(time.Second))
	h.mu.Unlock()
	if !inTime {
		return !h.askLater(question{pod, node, now})
	}
	rejected := h.rejects(pod, node)
	h.mu.Lock()
	defer h.mu.Unlock()
	took := time.Since(now)
	end := now.Add(took)
	if h.busyUntil.Before(end) {
		h.busyUntil = end
	}
	h.busyUntil = h.busyUntil.Add(took * (time.Second / hintTime))
	return !rejected
}

// askLater has a question answered by another goroutine. It reports false where that
// cannot be.
func (h *hints) askLater(q question) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.plugin.handle == nil || len(h.later) == maxQuestions {
		return false
	}
	h.later = append(h.later, q)
	if !h.answering {
		h.answering = true
		go h.answerLater()
	}
	return true
}

// answerLater wakes the pods that the guest lets run on one of the nodes that they were
// asked about, until there are no more questions.
func (h *hints) answerLater() {
	for !h.plugin.pool.closed.Load() {
		h.mu.Lock()
		questions := h.later
		h.later, h.answering = nil, len(questions) > 0
		h.mu.Unlock()
		if len(questions) == 0 {
			return
		}
		// All of a pod in a row: the guest may keep what it made of the last pod.
		slices.SortStableFunc(questions, func(a, b question) int { return cmp.Compare(a.pod.UID, b.pod.UID) })
		var woken types.UID
		for _, q := range questions {
			if q.pod.UID != woken && (time.Since(q.since) > patience || !h.rejects(q.pod, q.node)) {
				woken = q.pod.UID
				h.plugin.handle.Activate(klog.FromContext(h.plugin.ctx), map[string]*v1.Pod{klog.KObj(q.pod).String(): q.pod})
			}
		}
	}
}

// rejects reports whether a guest keeps a pod from a node, which it is asked where that is
// not known. After a call that has failed it reports false for a while, and asks nothing.
func (h *hints) rejects(pod *v1.Pod, node *v1.Node) bool {
	if time.Since(time.Unix(0, h.failed.Load())) < afterFailure {
		return false
	}
	c := h.plugin.newCycle(pod)
	c.hint = true
	c.known = h.plugin.answers.About(pod, nil)
	if c.known == nil {
		return false
	}
	rejected, known := h.rejection(c.known, node)
	if !known && h.plugin.guest.Active.Has(abi.PreFilter) {
		_, _ = c.preFilter()
		rejected, known = h.rejection(c.known, node)
	}
	if !known && h.plugin.guest.Active.Has(abi.Filter) {
		out, err := c.call(abi.Filter, onNode(node))
		c.learn(abi.Filter, c.known.NumberOf(node), out.Verdict, err)
		rejected, known = h.rejection(c.known, node)
	}
	if !known {
		h.failed.Store(time.Now().UnixNano())
	}
	return rejected
}

// rejection reports whether a guest has answered that a pod cannot run on a node, if it is
// known.
func (h *hints) rejection(about *memory.About, node *v1.Node) (rejected, known bool) {
	if h.plugin.guest.Active.Has(abi.PreFilter) {
		a := about.PreFilter()
		if a == nil {
			return false, false
		}
		status := statusOf(abi.PreFilter, a.Verdict)
		if !status.IsSuccess() {
			return status.IsRejected(), true
		}
		if !a.Result.AllNodes() && !a.Result.NodeNames.Has(node.Name) {
			return true, true
		}
	}
	v, known := h.plugin.guest.Constants[abi.Filter], true
	if h.plugin.guest.Active.Has(abi.Filter) {
		v, known = about.Get(abi.Filter, about.NumberOf(node))
	}
	return known && statusOf(abi.Filter, v).IsRejected(), known
}
