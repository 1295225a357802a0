package wasmhost

import "sync"

// callLock admits one call into a guest at a time. A call takes about a
// microsecond, and the scheduler's sixteen goroutines ask for one at every node.
// To park a goroutine and to wake it takes longer than to wait for its turn, so
// it waits awake, some ten microseconds at most.
type callLock struct{ mu sync.Mutex }

const (
	tries = 300
	pause = 100 // rounds of a loop that does nothing, between two tries
)

func (l *callLock) Lock() {
	for range tries {
		if l.mu.TryLock() {
			return
		}
		for range pause {
		}
	}
	l.mu.Lock()
}

func (l *callLock) Unlock() { l.mu.Unlock() }
