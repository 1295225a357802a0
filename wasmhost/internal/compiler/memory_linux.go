package compiler

import "syscall"

// memoryLimit is what a child may allocate, in bytes: maxMemory, or the hard limit of this process, which it
// inherits. RLIMIT_AS would count address space that Go only reserves.
func memoryLimit() uint64 {
	var given syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &given) != nil {
		return maxMemory
	}
	return min(maxMemory, given.Max)
}

// limitMemory bounds what this process may allocate.
func limitMemory(most uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most})
}
