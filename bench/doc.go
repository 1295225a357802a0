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
//
// Slow variants (v1, HTTP) have a turn in every fourth round. A cycle is reported in CPU
// time, the garbage of others is collected before each turn, etcd does not sync to disk,
// and one control plane runs at a time. The first cycle of each turn does not count.
// Guests run in wasmhost: PreFilter, then Filter on the nodes that it named, on one
// goroutine. kube-scheduler's own client calls the extender. Verdicts are checked against
// regexp before each turn. A node has about 5 KB and a pod about 8 KB in protobuf; names
// of nodes have the form of four providers in turn.
//
// Cases of Cycle: prefix is a pattern that a pod had before, ^kubecon-, which a quarter of
// the nodes match; most is one that 3 of 4 nodes match, so that PreFilter does not name
// nodes; new is a pattern with a number that is not used again; none has no annotation.
// Scheduler measures a whole scheduler with 1,000 pods of ten kinds that are pending when
// it starts, from its first attempt to the last binding that a watch reports, or to 20 s;
// tries are the attempts of a pod that is unschedulable. Its case decisions compares a scheduler with
// --decisions=64Mi to one without. Its case gpus has pods that request one to four of the eight GPUs of a node, and compares the guest of
// examples/pack to NodeResourcesFit's RequestedToCapacityRatio. All send as many requests a second as they can; its case limits compares that to
// kube-scheduler's default and to what deploy/ has.
//
// A floor does less than any policy must: http and http-names are a server that reads the
// extender's requests and writes as many bytes, empty is a guest whose hooks return
// constants, name fetches the name of every node, reject also rejects it with a reason, pod
// fetches the pod in PreFilter and does not look at it.
package bench
