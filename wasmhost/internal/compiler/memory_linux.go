package compiler

import "syscall"

// limitMemory bounds what this process may allocate. RLIMIT_AS would count address space that
// Go only reserves.
func limitMemory(most uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most})
}
