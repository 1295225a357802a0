// Package minor holds what differs between the minors of Kubernetes that the
// project can be built from. Build tags, which the Makefile sets, choose its files:
// since_1_37.go is for 1.37 and later, before_1_37.go for those before it. What needs
// more of Kubernetes than plugins do is in its folders.
package minor
