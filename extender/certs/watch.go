package certs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/config"
)

// lookEvery is how often the files are looked at. It works for every file system
// and however a file is changed, and reading a few kilobytes costs nothing.
const lookEvery = time.Second

// Watch loads the files that were loaded before when they have changed, until ctx is
// done, and tells loaded what came of it. They are left to settle for as long as it
// takes to look again: certificate and key are rarely written in the same instant.
func (s *Source) Watch(ctx context.Context, files config.TLS, loaded func(error)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for last := s.tried; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := digestOf(read(files))
		if now == last && now != s.tried {
			loaded(s.Load(files))
		}
		last = now
	}
}

// contents are those of the files.
type contents struct{ cert, key, clientCA []byte }

func read(files config.TLS) (all contents, err error) {
	for _, file := range []struct {
		path string
		into *[]byte
	}{{files.CertFile, &all.cert}, {files.KeyFile, &all.key}, {files.ClientCAFile, &all.clientCA}} {
		if file.path == "" {
			continue
		}
		if *file.into, err = readFile(file.path); err != nil {
			return contents{}, err
		}
	}
	return all, nil
}

// readFile reads no pipe and no device, which may never end.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: is no regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// digest stands for the contents of all files, or for none.
type digest [sha256.Size]byte

func digestOf(all contents, err error) digest {
	if err != nil {
		return digest{}
	}
	sum := sha256.New()
	for _, content := range [][]byte{all.cert, all.key, all.clientCA} {
		one := sha256.Sum256(content)
		sum.Write(one[:])
	}
	return digest(sum.Sum(nil))
}
