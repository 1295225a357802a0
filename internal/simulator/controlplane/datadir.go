package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Names in a data directory that people look for.
const (
	// KubeconfigFile is the admin kubeconfig, mode 0600.
	KubeconfigFile = "kubeconfig"
	// LogFile holds the warnings and errors of etcd and of every Kubernetes component in
	// the process.
	LogFile = "control-plane.log"
)

const (
	pkiDir   = "pki"
	etcdDir  = "etcd"
	lockFile = "lock"
	// maxSocketPath is what a unix socket's path may measure on every system
	// (macOS allows 104 bytes with the closing NUL, Linux 108).
	maxSocketPath = 103
)

// dataDir is a cluster's place on disk, locked for as long as it is open.
type dataDir struct {
	root      string
	temporary bool
	lock      *fileutil.LockedFile
	sockets   string // where sockets go
}

func openDataDir(root string) (*dataDir, error) {
	d := &dataDir{root: root, temporary: root == ""}
	if err := d.open(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *dataDir) open() (err error) {
	if d.temporary {
		if d.root, err = os.MkdirTemp("", "control-plane-"); err != nil {
			return fmt.Errorf("temporary data directory: %w", err)
		}
	} else if d.root, err = filepath.Abs(d.root); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	for _, dir := range []string{d.root, d.path(pkiDir), d.path(etcdDir)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	d.lock, err = fileutil.TryLockFile(d.path(lockFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return fmt.Errorf("data directory %s is in use by another cluster: stop that one or name another directory", d.root)
	}
	if err != nil {
		return fmt.Errorf("lock data directory: %w", err)
	}
	// Only this user can enter it. The path of the data directory may be longer than
	// that of a socket can be.
	if d.sockets, err = os.MkdirTemp("", "etcd-"); err != nil {
		return fmt.Errorf("directory for etcd's socket: %w", err)
	}
	n := len(d.socket())
	if n > maxSocketPath {
		return fmt.Errorf("etcd's socket path has %d bytes, at most %d are possible: set TMPDIR to a shorter directory", n, maxSocketPath)
	}
	return nil
}

func (d *dataDir) socket() string { return filepath.Join(d.sockets, "etcd.sock") }

func (d *dataDir) path(name string) string { return filepath.Join(d.root, name) }

func (d *dataDir) close() error {
	var errs []error
	if d.sockets != "" {
		errs = append(errs, os.RemoveAll(d.sockets))
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Close())
	}
	if d.temporary && d.root != "" {
		errs = append(errs, os.RemoveAll(d.root))
	}
	return errors.Join(errs...)
}
