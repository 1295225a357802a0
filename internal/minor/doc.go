// Package minor holds all that differs between the minors of Kubernetes that the
// scheduler can be built from: each has a file here, chosen by a build tag that
// the Makefile sets.
package minor
