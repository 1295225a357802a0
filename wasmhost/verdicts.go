package wasmhost

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// podAnswers are the answers about pods whose declared fields have the same
// values. Any number of goroutines reads them while others write.
type podAnswers struct {
	cache   *answerCache
	key     string
	bytes   int64 // as the cache has counted them, with which these two are locked
	dropped bool

	preFilter     atomic.Pointer[answer]
	filter, score column
	verdicts      atomic.Pointer[[]abi.Verdict] // by their numbers, from 1 on
	passing       atomic.Pointer[passingNodes]

	mu      sync.Mutex // held by who writes verdicts, numbers and columns
	numbers map[verdictKey]uint16
}

func (a *podAnswers) keepPreFilter(answered *answer) {
	a.preFilter.Store(answered)
	bytes := preFilterBytes + int64(len(answered.Reason()))
	if answered.result != nil {
		bytes += setBytes(len(answered.result.NodeNames))
		for name := range answered.result.NodeNames {
			bytes += int64(len(name))
		}
	}
	a.cache.grew(a, bytes)
}

// verdictKey is a verdict that can be compared.
type verdictKey struct {
	code, number int32
	reason       string
}

func keyOf(v abi.Verdict) verdictKey { return verdictKey{v.Code, v.Number, v.Reason()} }

// inWords is a verdict as it is logged.
func inWords(v abi.Verdict) string {
	return fmt.Sprintf("%s, %d, %q", fwk.Code(v.Code), v.Number, v.Reason())
}

// of is the column of Filter or Score.
func (a *podAnswers) of(hook abi.Hook) *column {
	if hook == abi.Score {
		return &a.score
	}
	return &a.filter
}

// about finds what was answered about the nodes of a number.
func (a *podAnswers) about(hook abi.Hook, id int32) (abi.Verdict, bool) {
	number := a.of(hook).get(id)
	if number == 0 {
		return abi.Verdict{}, false
	}
	return (*a.verdicts.Load())[number-1], true
}

// keep remembers what was answered about the nodes of a number, of so many numbers,
// unless there are too many different answers.
func (a *podAnswers) keep(hook abi.Hook, id int32, size int, v abi.Verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set(a.of(hook), id, size, a.number(v))
}

// set is keep for the number of a verdict, with the answers locked.
func (a *podAnswers) set(of *column, id int32, size int, number uint16) {
	if grown := of.set(id, size, number); grown > 0 {
		a.cache.grew(a, grown)
	}
}

// number is that of a verdict, or 0 where there are too many. The answers must be
// locked.
func (a *podAnswers) number(v abi.Verdict) uint16 {
	key := keyOf(v)
	number, ok := a.numbers[key]
	if ok || len(a.numbers) == math.MaxUint16 {
		return number
	}
	number = uint16(len(a.numbers) + 1)
	a.numbers[key] = number
	var verdicts []abi.Verdict
	if known := a.verdicts.Load(); known != nil {
		verdicts = *known
	}
	verdicts = append(verdicts, v) // who reads the list as it was does not see what is behind its end
	a.verdicts.Store(&verdicts)
	a.cache.grew(a, int64(len(key.reason))+verdictBytes)
	return number
}

// column has the numbers of verdicts, two in each cell, by the numbers of the nodes.
// 0 is none, as for a node without a number. The zero value is ready to use.
type column struct {
	cells atomic.Pointer[[]atomic.Uint32]
}

func (c *column) get(id int32) uint16 {
	cells := c.cells.Load()
	if cells == nil || id < 0 || int(id/2) >= len(*cells) {
		return 0
	}
	return uint16((*cells)[id/2].Load() >> (16 * uint(id&1)))
}

// set is for one goroutine at a time. It makes room for so many numbers of nodes, and
// says how many bytes that took. What is there stays: who asks the same gets the same
// answer.
func (c *column) set(id int32, size int, number uint16) (bytes int64) {
	cells := c.cells.Load()
	if cells == nil || int(id/2) >= len(*cells) {
		grown := make([]atomic.Uint32, max(size, int(id)+1)/2+1)
		bytes = 4 * int64(len(grown))
		if cells != nil {
			for i := range *cells {
				grown[i].Store((*cells)[i].Load())
			}
			bytes -= 4 * int64(len(*cells))
		}
		cells = &grown
		c.cells.Store(cells)
	}
	cell, shift := &(*cells)[id/2], 16*uint(id&1)
	if old := cell.Load(); old>>shift&math.MaxUint16 == 0 {
		cell.Store(old | uint32(number)<<shift)
	}
	return bytes
}
