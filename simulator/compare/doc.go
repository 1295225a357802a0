// Package compare shows what a change of the scheduler's configuration changes:
// it puts the same objects into two simulators, one for each configuration, lets
// them schedule the same pods in the same order, and tells which pods came out
// differently, and why.
//
// Chance is told from cause. Where kube-scheduler leaves something to chance, both
// sides draw alike (see dice), and what remains chance is counted as a tie.
//
// It prints nothing and serves nothing: the packages beside it do, on what
// [Run] returns.
package compare
