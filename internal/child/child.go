// Package child starts programs that end with the process that starts them. It is no
// API.
package child

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Start starts a command that exec.CommandContext made. When its context is done it is
// sent SIGTERM, and killed if it has not within stopTime. It ends with this process, too,
// on Linux even if that is killed. wait returns when it has ended, as cmd.Wait does.
func Start(cmd *exec.Cmd, stopTime time.Duration) (wait func() error, err error) {
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the child ends with the thread that started it
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	return func() error { return <-ended }, <-started
}
