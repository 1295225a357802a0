// Package capacity asks a copy of a cluster what one would rather not try on the cluster
// itself: whether workloads fit, and what can go. The copy is a side of a comparison,
// with the real scheduler.
//
// It is no API. It reads manifests and writes a report; the cluster that was copied is
// never written to, and which one that is its callers know.
package capacity
