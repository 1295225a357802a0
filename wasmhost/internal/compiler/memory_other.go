//go:build !linux

package compiler

// limitMemory does nothing: only Linux bounds what Go allocates. There is the deadline still.
func limitMemory(uint64) error { return nil }
