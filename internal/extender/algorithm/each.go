package algorithm

import (
	"runtime"
	"sync"
)

// share is how many nodes are worth a goroutine.
const share = 512

// Each calls do with parts of the range from 0 to n that together are all of
// it, on several cores at a time if n is worth that. A panic of do is a panic
// of Each.
func Each(n int, do func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n/share)
	if parts < 2 {
		do(0, n)
		return
	}
	var all sync.WaitGroup
	panics := make(chan any, parts)
	for k := range parts {
		all.Add(1)
		go func() {
			defer all.Done()
			defer func() {
				if p := recover(); p != nil {
					panics <- p
				}
			}()
			do(k*n/parts, (k+1)*n/parts)
		}()
	}
	all.Wait()
	select {
	case p := <-panics:
		panic(p)
	default:
	}
}
