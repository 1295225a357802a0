// Package kubelets does what the kubelets of a cluster's nodes would, as far as
// the API shows it, so that nodes that exist only in the API become Ready with
// capacity, and pods that the scheduler bound to them become Running with an
// address, finish when a Job owns them or they say when, and go when they are deleted.
//
// It looks at what is there, not at what has happened to it: each look at a node
// or a pod does what is missing, and whoever fails is looked at again. Writes
// carry the resource version that was looked at, so they meet no other object and
// undo nobody's change.
//
// What it is not: it runs no container and no endpoint (no logs, no exec), places
// no pod, and deletes none but those that somebody deleted already. It is no API.
package kubelets
