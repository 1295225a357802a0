// Package kubectl is kubectl's plugin `kubectl regex`: it finds a bad pattern
// before the scheduler sees it, and says what patterns come to on a cluster's nodes.
//
//	command.go    the command, its flags and its exit statuses
//	match.go      match: the nodes that a pattern matches
//	lint.go       lint: mistakes in manifests; manifests.go reads them, sarif.go is for code review pages
//	explain.go    explain: why a pod waits, or runs where it does; obstacles.go looks at nodes
//	patterns.go   nodes: the patterns in use
//	print.go      tables, JSON, YAML
//
// It reads, and never writes. What a pattern means and which are refused is
// package regex's to say, in the words that the scheduler uses.
package kubectl
