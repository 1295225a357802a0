package child

import "syscall"

// attributes keep a terminal's Ctrl-C from the child, which is ended in its turn.
// It outlives this process if that is killed: only Linux can prevent that.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
