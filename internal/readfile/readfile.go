// Package readfile reads files that a flag or a configuration names, whatever they are: reading a pipe without a
// writer, a folder, or a device without an end is an error.
package readfile

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

const (
	// maxSize is in bytes, and more than kubectl writes of 100,000 pods. A device has less: most have no end.
	maxSize   = 1 << 30
	maxDevice = 1 << 20
	// maxTime is how long the writer of a pipe may take.
	maxTime = 5 * time.Minute
)

// Open opens a file for reading, and does not wait for the writer of a pipe.
func Open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		_ = file.SetReadDeadline(time.Now().Add(maxTime)) // which only pipes have
	}
	return file, err
}

// All is the content of a file of at most 1 GiB.
func All(path string) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	most := maxSize
	if info.Mode()&os.ModeDevice != 0 {
		most = maxDevice
	}
	text, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > most:
		return nil, &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d MiB", most>>20)}
	case len(text) == 0 && info.Mode()&os.ModeNamedPipe != 0:
		return nil, fmt.Errorf("read %s: nothing was written into this pipe", path)
	}
	return text, nil
}

// Kubeconfig checks kubeconfigs, and the files that they name, before client-go reads them, which waits for the writer of a pipe, and
// reads a device without an end. A shell's <(command) has a writer. A file that is missing is no error: client-go reads none by default,
// and names another.
func Kubeconfig(paths ...string) error {
	for _, path := range paths {
		if err := hasEnd(path); err != nil {
			return fmt.Errorf("kubeconfig %s: %w", path, err)
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() { // a pipe is read once
			continue
		}
		config, err := clientcmd.LoadFromFile(path)
		if err != nil {
			continue // client-go says why
		}
		named := map[string]string{}
		for name, cluster := range config.Clusters {
			named["certificate-authority of cluster "+name] = cluster.CertificateAuthority
		}
		for name, user := range config.AuthInfos {
			named["client-certificate of user "+name] = user.ClientCertificate
			named["client-key of user "+name] = user.ClientKey
			named["tokenFile of user "+name] = user.TokenFile
		}
		for _, field := range slices.Sorted(maps.Keys(named)) {
			file := named[field]
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(path), file)
			}
			if err := hasEnd(file); err != nil {
				return fmt.Errorf("kubeconfig %s: %s: %s: %w", path, field, file, err)
			}
		}
	}
	return nil
}

// hasEnd is an error about a file that is there, and that client-go would read for long.
func hasEnd(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	open := strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") || path == "/dev/stdin"
	switch {
	case info.Mode()&os.ModeNamedPipe != 0 && !open:
		return errors.New("it is a pipe: give a file")
	case info.Mode()&os.ModeCharDevice != 0:
		_, err = All(path)
		is := (*os.PathError)(nil)
		if errors.As(err, &is) {
			return is.Err
		}
		return err
	case info.Size() > maxSize:
		return fmt.Errorf("it has more than %d MiB", maxSize>>20)
	}
	return nil
}

// KeyPair is tls.LoadX509KeyPair.
func KeyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := All(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := All(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}
