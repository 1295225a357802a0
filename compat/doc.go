// Package compat runs the scenarios of testdata/scenarios through the host of
// kube-scheduler-wasm-extension, unmodified. It is a module of its own, because that host
// needs an older Kubernetes. The transcripts beside the scenarios are its answers; the tests
// of wasmhost compare ours with them.
//
// Both hosts run on wazero 1.12.0, although upstream's go.mod requires 1.7.2. So wazero is
// not the cause of a difference between the hosts. Nothing compares wazero's versions.
package compat
