//go:build !linux

package compiler

// memoryLimit is what a child may allocate, in bytes.
func memoryLimit() uint64 { return maxMemory }

// limitMemory does nothing: only Linux bounds what Go allocates. There is the deadline still.
func limitMemory(uint64) error { return nil }
