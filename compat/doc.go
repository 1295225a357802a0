// Package compat runs the transcripts of abi/ with the host of kube-scheduler-wasm-extension,
// unmodified. They say what it answers otherwise than ours. It is a module of its own, because
// that host needs an older Kubernetes.
//
// Both hosts run on wazero 1.12.0, although upstream's go.mod requires 1.7.2. So wazero is
// not the cause of a difference between the hosts. Nothing compares wazero's versions.
package compat
