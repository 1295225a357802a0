// Package minor holds what differs between the minors of Kubernetes that the
// scheduler can be built from: each has a file here, chosen by a build tag that
// the Makefile sets. Beside it there is only simulator/controlplane/minor.go,
// for tests that start an API server.
package minor
