// Package bench has only benchmarks: the cost of every plugin variant, on the same work
// in one process. `make bench` runs them, and benchstat shows the
// medians, as docs/performance.md says.
//
// The variants take turns, round by round, each in a sub-benchmark of its own. So
// whatever slows the machine down for a while slows all of a round, and the ratio of two
// variants in one round is meaningful. The round is part of a benchmark's name; benchstat
// compares variants, or two runs, over all rounds:
//
//	go test ./bench -bench Cycle/case=prefix -benchtime 30ms -rounds 20 >run.txt
//	go tool -modfile=tools/go.mod benchstat -ignore /round -col /plugin run.txt
package bench
