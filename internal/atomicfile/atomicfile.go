// Package atomicfile writes files of which there is always all or nothing.
package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write makes a file of what write writes, with mode 0600. If that fails, the file
// stays as it was. What is there and no regular file, such as a pipe or a device, is written to.
func Write(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		to, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(to), to.Close())
	}
	part, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) // once it is renamed there is none
	if err := errors.Join(write(part), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}

// WriteBytes makes a file of data.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
}
