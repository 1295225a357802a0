package wasmhost

import (
	"sync"
	"testing"
	"time"
)

func TestCallLockAdmitsOneAtATime(t *testing.T) {
	var lock callLock
	var group sync.WaitGroup
	inside, calls := 0, 0
	for range 16 {
		group.Go(func() {
			for i := range 1000 {
				lock.Lock()
				if inside++; inside != 1 {
					t.Errorf("%d are inside", inside)
				}
				if i == 500 { // longer than anyone waits awake
					time.Sleep(time.Millisecond)
				}
				calls++
				inside--
				lock.Unlock()
			}
		})
	}
	group.Wait()
	if calls != 16_000 {
		t.Errorf("%d calls, want 16000", calls)
	}
}
