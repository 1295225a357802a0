package controlplane

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// crash is what etcd calls when it cannot go on, in place of a panic or an exit without a
// word: a full disk is the most likely cause.
type crash struct {
	dir     *dataDir
	running atomic.Bool // it is started: its own goroutines fail, which cannot be recovered
}

func (c *crash) options() []zap.Option {
	return []zap.Option{zap.WithPanicHook(c), zap.WithFatalHook(c)}
}

// OnWrite does not return.
func (c *crash) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	err := errors.New(entry.Message)
	for _, field := range fields {
		cause, ok := field.Interface.(error)
		if ok && field.Type == zapcore.ErrorType {
			err = fmt.Errorf("%s: %w", entry.Message, cause)
		}
	}
	err = c.dir.explain(err)
	if entry.Level == zapcore.PanicLevel && !c.running.Load() {
		panic(crashed{err})
	}
	fmt.Fprintf(os.Stderr, "simulator: etcd: %v\n", err)
	_ = c.dir.close()
	os.Exit(1)
}

// crashed is what a start panics with.
type crashed struct{ error }

// recovered makes the error of a start of what it panicked with.
func recovered(err *error) {
	switch cause := recover().(type) {
	case nil:
	case crashed:
		*err = cause.error
	default:
		panic(cause)
	}
}

// explain says what to do about a full disk.
func (d *dataDir) explain(err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, syscall.EFBIG) {
		return err
	}
	other := "another directory as --data-dir"
	if d.temporary {
		other = "a directory on another disk as TMPDIR"
	}
	return fmt.Errorf("%w: there is no room in %s: make some (etcd takes 130 MB at its start), or give %s", err, d.root, other)
}
