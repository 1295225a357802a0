package child

import "syscall"

// attributes keep a terminal's Ctrl-C from the child, which is ended in its turn,
// and end it with the process that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
