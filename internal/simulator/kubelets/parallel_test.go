package kubelets

import "sync"

func inParallel(n int, do func(i int)) {
	const workers = 32
	var group sync.WaitGroup
	for w := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := w; i < n; i += workers {
				do(i)
			}
		}()
	}
	group.Wait()
}
