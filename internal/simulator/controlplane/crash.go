package controlplane

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"go.uber.org/zap/zapcore"
)

// crash is what etcd calls when it cannot go on, in place of a panic or an exit without a
// word: a full disk is the most likely cause. Its own goroutines fail, which cannot be recovered.
type crash struct{ dir *dataDir }

// OnWrite does not return.
func (c crash) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	err := errors.New(entry.Message)
	for _, field := range fields {
		cause, ok := field.Interface.(error)
		if ok && field.Type == zapcore.ErrorType {
			err = fmt.Errorf("%s: %w", entry.Message, cause)
		}
	}
	fmt.Fprintf(os.Stderr, "simulator: etcd: %v\n", c.dir.explain(err))
	_ = c.dir.close()
	os.Exit(1)
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
