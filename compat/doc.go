// Package compat is the upstream host as referee: it runs the scenarios of
// testdata/scenarios through the host of kube-scheduler-wasm-extension, unmodified,
// in a module of its own, because that host ends at an older Kubernetes. The
// transcripts beside the scenarios are what it answered; the tests of wasmhost
// hold ours against them.
//
// It runs them with wazero 1.12.0, as ours does, and not with the 1.7.2 that its own
// go.mod asks for: a Go module has one version of another. What differs between the
// two hosts is then not wazero's, and what differs between 1.7.2 and 1.12.0 is held
// against nothing.
package compat
