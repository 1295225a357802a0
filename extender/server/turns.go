package server

import "runtime"

// turns are those in which requests are read, as many at a time as there are
// processors, for each class of sizes: a request for a hundred names takes a
// fraction of a millisecond, and waits for none of full nodes, which take hundreds.
type turns [len(classes) + 1]chan struct{}

// classes are the largest bodies of all classes but the last: 2,000 names with
// their pod, and 30,000.
var classes = [...]int{64 << 10, 1 << 20}

func newTurns() (t turns) {
	for i := range t {
		t[i] = make(chan struct{}, runtime.GOMAXPROCS(0))
	}
	return t
}

// of are the turns for bodies of a size.
func (t turns) of(size int) chan struct{} {
	for i, most := range classes {
		if size <= most {
			return t[i]
		}
	}
	return t[len(classes)]
}
