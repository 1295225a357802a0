//go:build tinygo

package regex

// shared is the working memory of all matches: a guest has one thread.
var shared = newDFA()

func borrow() *dfa { return shared }

func giveBack(*dfa) {}

const processors = 1 // a guest has one thread
