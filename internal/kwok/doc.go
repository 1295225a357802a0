// Package kwok runs KWOK's controllers inside the process, so that nodes that
// exist only in the API become Ready with capacity, and pods that the scheduler
// bound to them become Running with an address, finish when a Job owns them, and
// go when they are deleted. Pods are KWOK's; nodes.go says why nodes are not.
//
// What it is not: it runs no container and no kubelet endpoint (no logs, no
// exec), places no pod, and installs none of KWOK's own resources: its stages are
// fixed here.
package kwok
