//go:build !tinygo

package regex

import "sync"

// dfas holds the working memory of matches, each perhaps warm with the states
// of the program that it served last.
var dfas = sync.Pool{New: func() any { return newDFA() }}

func borrow() *dfa { return dfas.Get().(*dfa) }

func giveBack(d *dfa) { dfas.Put(d) }

// processors is how many goroutines of a cycle build states at a time, at most:
// kube-scheduler filters on so many, unless it is told otherwise.
const processors = 16
